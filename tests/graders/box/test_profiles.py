"""Each box has its own user, and the profile is the strongest that works."""

import os

import pytest
from box_parts import TEST_LIMITS, make_request

from graders.box.interface import Cause, Profile
from graders.box.profiles import choose_uid, count_tasks, probe_profile
from graders.box.slot import open_box
from graders.contract.jobs import Flavour


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


@pytest.mark.box
def test_a_worker_that_keeps_its_files_from_others_opens_a_box_that_works(profile: Profile) -> None:
    usual = os.umask(0o077)
    try:
        slot = open_box((Flavour.PLAIN,), profile=profile)
    finally:
        os.umask(usual)
    try:
        ended = slot.start(make_request("print(1)", Flavour.PLAIN, TEST_LIMITS)).wait()
    finally:
        slot.close()
    assert (ended.cause, ended.stdout) == (Cause.EXITED, b"1\n")
