"""Wake-ups by datagrams: what dead processes leave is removed, and whoever wakes is never disturbed."""

from pathlib import Path

from graders.ledger.datagram_wakeups import DatagramWakeups


def test_the_socket_of_a_dead_process_is_removed_by_the_next_wake_up(tmp_path: Path) -> None:
    wakeups = DatagramWakeups(tmp_path / "wakeups")
    listener = wakeups.listen("a")
    listener._socket.close()
    assert listener._path.is_socket()
    wakeups.wake("a")
    assert not listener._path.exists()


def test_waking_where_nobody_listens_or_no_folder_is_left_does_nothing(tmp_path: Path) -> None:
    wakeups = DatagramWakeups(tmp_path / "wakeups")
    wakeups.wake("a")
    (tmp_path / "wakeups").rmdir()
    wakeups.wake("a")
