"""A slot for the whole session, and a way to run a cell in it and see how that ended."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from box_parts import TEST_LIMITS, Ending, run_to_end

from graders.box.interface import Profile
from graders.box.profiles import probe_profile
from graders.box.slot import Slot, open_box
from graders.contract.jobs import Flavour
from graders.contract.limits import Limits

RunCell = Callable[..., Ending]


@pytest.fixture(scope="session")
def profile() -> Profile:
    """The best profile of this machine, or no stronger than UNWIND_PROFILE."""
    wished = os.environ.get("UNWIND_PROFILE")
    return probe_profile(Profile(wished) if wished else None)


@pytest.fixture(scope="session")
def box(profile: Profile) -> Iterator[Slot]:
    slot = open_box(profile=profile)
    yield slot
    slot.close()


@pytest.fixture
def run_cell(box: Slot) -> RunCell:
    def run(source: str, flavour: Flavour = Flavour.PLAIN, limits: Limits = TEST_LIMITS, **more: Any) -> Ending:
        return run_to_end(box, source, flavour, limits, **more)

    return run
