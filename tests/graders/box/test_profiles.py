"""Users of boxes are nobody else's, and the profile is the strongest that works."""

import os

import pytest

from graders.box.errand import Profile
from graders.box.profiles import choose_uid, count_tasks, probe_profile


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's box has that user's own id")
def test_every_slot_gets_a_user_of_its_own_that_is_not_root() -> None:
    uids = {choose_uid() for _ in range(8)}

    assert len(uids) == 8
    assert 0 not in uids


def test_the_tasks_of_a_user_are_counted() -> None:
    assert count_tasks(os.geteuid()) >= 1
    assert count_tasks(0x7FFFFFF0) == 0


@pytest.mark.box
def test_the_profile_is_never_stronger_than_asked(profile: Profile) -> None:
    assert probe_profile(profile) is profile
