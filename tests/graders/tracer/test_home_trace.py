"""The home page's picture is drawn from a committed trace: recording its program again gives the same graph."""

import pytest

pytest.importorskip("torch")

from tracer_parts import trace

from app.web.pages.home import SOURCE, TRACE
from graders.contract.trace_check import read_trace

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


def test_the_home_page_draws_what_its_program_records() -> None:
    kept, now = read_trace(TRACE.read_bytes()), trace(SOURCE)

    assert (kept.nodes, kept.edges, kept.events) == (now.nodes, now.edges, now.events)
