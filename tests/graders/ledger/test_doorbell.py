"""Doorbells wake at once, never block the ringer, and clean up after the dead."""

import asyncio
from pathlib import Path

import pytest

from graders.ledger.doorbell import Doorbells


@pytest.fixture
def bells(tmp_path: Path) -> Doorbells:
    return Doorbells(tmp_path / ("deep" * 30) / "doorbell")


async def test_a_ring_wakes_every_listener_of_its_topic_and_no_other(bells: Doorbells) -> None:
    with bells.listen("a") as first, bells.listen("a") as second, bells.listen("b") as other:
        bells.ring("a")
        assert await first.wait(5)
        assert await second.wait(5)
        assert not await other.wait(0.02)


async def test_a_ring_before_the_wait_is_not_lost_and_many_are_one(bells: Doorbells) -> None:
    with bells.listen("a") as bell:
        for _ in range(1000):
            bells.ring("a")
        assert await bell.wait(5)
        assert not await bell.wait(0.02)


async def test_a_wait_that_was_given_up_loses_no_ring(bells: Doorbells) -> None:
    with bells.listen("a") as bell:
        waiting = asyncio.create_task(bell.wait(5))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        bells.ring("a")
        assert await bell.wait(5)


def test_the_socket_of_a_dead_process_is_removed_by_the_next_ring(bells: Doorbells) -> None:
    bell = bells.listen("a")
    bell._socket.close()
    assert bell._path.is_socket()
    bells.ring("a")
    assert not bell._path.exists()


def test_ringing_where_nobody_listens_or_no_folder_is_left_does_nothing(tmp_path: Path) -> None:
    bells = Doorbells(tmp_path / "bells")
    bells.ring("a")
    (tmp_path / "bells").rmdir()
    bells.ring("a")
