"""The one document of a free cell, as the driver writes it."""

import json

import pytest

CAPS = {"document_bytes": 100_000}


def execute(source: str, setup: str = "") -> dict:
    import cell

    order = {"source": source, "setup": setup, "want_trace": False, "caps": CAPS}
    return json.loads(cell.encode_report(cell.execute(order), CAPS["document_bytes"]))


@pytest.fixture(autouse=True)
def _main_comes_back(monkeypatch):
    """A cell is __main__ to itself; the test process wants its own back."""
    import sys

    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


def test_a_cell_that_ends_well():
    assert execute("x = 1") == {"ok": True, "mistake": None, "trace": None}


def test_setup_shares_the_namespace_and_its_errors_have_no_line_of_the_cell():
    assert execute("assert y == 2", setup="y = 2")["ok"]
    mistake = execute("pass", setup="1 / 0")["mistake"]
    assert (mistake["type"], mistake["line"]) == ("ZeroDivisionError", None)


def test_an_error_is_told_with_its_line():
    report = execute("x = 1\nx.y\n")
    assert (report["ok"], report["mistake"]["line"]) == (False, 2)


@pytest.mark.parametrize(
    ("source", "ok"), [("raise SystemExit", True), ("raise SystemExit(0)", True), ("exit(3)", False)]
)
def test_leaving_with_a_status_of_zero_is_an_ordinary_end(source, ok):
    assert execute(f"import sys\nexit = sys.exit\n{source}")["ok"] is ok


def test_a_cell_is_main_to_itself():
    assert execute("import __main__\nz = 5\nassert __main__.z == 5 and __name__ == '__main__'")["ok"]


def test_the_tracer_is_told_how_long_a_document_may_be():
    import cell

    source = "class V:\n    def __init__(self, data, _prev=()):\n        self.data, self._prev = data, _prev\n"
    source += "v = V(1)\nfor _ in range(300):\n    v = V(1, (v,))\n"
    caps = {"document_bytes": 100_000, "max_document_bytes": 20_000}
    order = {"source": source, "setup": "", "want_trace": True, "engine": "learner", "caps": caps}
    trace = cell.execute(order)["trace"]
    assert 10_000 < len(json.dumps(trace, separators=(",", ":"))) <= 20_000
    assert trace["truncated"]


@pytest.mark.parametrize(
    ("trace", "refused"),
    [({"x": "y" * 200_000}, "too large"), ({"x": float("nan")}, "plain numbers"), ({"x": {1, 2}}, "plain numbers")],
)
def test_a_trace_that_cannot_be_sent_costs_the_picture_and_not_the_run(trace, refused):
    import cell

    report = json.loads(cell.encode_report({"ok": True, "mistake": None, "trace": trace}, CAPS["document_bytes"]))
    assert (report["ok"], report["trace"]) == (True, None)
    assert refused in report["trace_refused"]
