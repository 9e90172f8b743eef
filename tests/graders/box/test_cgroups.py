"""Both versions of control groups are written and read in their own words."""

import os
from pathlib import Path

import pytest

from graders.box.cgroups import Hierarchy, Quota, RunGroups, _sweep, name_groups, share_out

QUOTA = Quota(memory_bytes=64 << 20, tasks=18, cpu_cores=1.5)


def make_groups(folder: Path, version: int) -> RunGroups:
    return RunGroups(tuple(Hierarchy(name, version, folder) for name in ("memory", "pids", "cpu")), "run-1")


@pytest.mark.parametrize(
    ("version", "files"),
    [
        (1, {"memory.limit_in_bytes": "67108864", "pids.max": "18", "cpu.cfs_quota_us": "150000"}),
        (2, {"memory.max": "67108864", "pids.max": "18", "cpu.max": "150000 100000"}),
    ],
)
def test_a_quota_is_written_in_the_words_of_its_version(tmp_path: Path, version: int, files: dict[str, str]) -> None:
    make_groups(tmp_path, version).set_quota(QUOTA)

    assert {file.name: file.read_text() for file in (tmp_path / "run-1").iterdir()} == files


@pytest.mark.parametrize(
    ("version", "name", "off"), [(1, "memory.memsw.limit_in_bytes", "67108864"), (2, "memory.swap.max", "0")]
)
def test_swap_is_forbidden_where_the_kernel_counts_it(tmp_path: Path, version: int, name: str, off: str) -> None:
    groups = make_groups(tmp_path, version)
    (tmp_path / "run-1" / name).write_text("max")

    groups.set_quota(QUOTA)

    assert (tmp_path / "run-1" / name).read_text() == off


@pytest.mark.parametrize(
    ("version", "peak", "kills", "text"),
    [
        (1, "memory.max_usage_in_bytes", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"),
        (2, "memory.peak", "memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n"),
    ],
)
def test_peak_and_kills_are_read(tmp_path: Path, version: int, peak: str, kills: str, text: str) -> None:
    groups = make_groups(tmp_path, version)
    (tmp_path / "run-1" / peak).write_text("12345\n")
    (tmp_path / "run-1" / kills).write_text(text)

    assert (groups.read_peak_memory_bytes(), groups.count_memory_kills()) == (12345, 1)


def test_without_a_memory_group_there_is_no_peak(tmp_path: Path) -> None:
    groups = RunGroups((Hierarchy("pids", 2, tmp_path),), "run-1")

    assert (groups.read_peak_memory_bytes(), groups.count_memory_kills()) == (None, 0)


def test_an_old_kernel_without_a_peak_says_nothing(tmp_path: Path) -> None:
    assert make_groups(tmp_path, 2).read_peak_memory_bytes() is None


def make_group(folder: Path, *, controllers: str = "memory pids", shared: str = "", pids: str = "") -> Path:
    """The files of a group of version 2; a root has no type."""
    folder.mkdir()
    for name, text in {
        "controllers": controllers,
        "subtree_control": shared,
        "procs": pids,
        "type": "domain",
    }.items():
        (folder / f"cgroup.{name}").write_text(text)
    return folder


def test_a_worker_alone_in_its_group_steps_down_into_a_leaf(tmp_path: Path) -> None:
    own = make_group(tmp_path / "service", pids=f"{os.getpid()}\n")

    assert share_out(own, "memory") == own
    assert (own / "worker" / "cgroup.procs").read_text() == str(os.getpid())
    assert (own / "cgroup.subtree_control").read_text() == "+memory"


def test_a_worker_with_company_leaves_its_group_alone(tmp_path: Path) -> None:
    slice_ = make_group(tmp_path / "slice", shared="memory")
    own = make_group(slice_ / "session", pids=f"{os.getppid()}\n{os.getpid()}\n")

    assert share_out(own, "memory") == slice_
    assert not (own / "worker").exists()
    assert (own / "cgroup.subtree_control").read_text() == ""


def test_a_process_of_another_namespace_is_company(tmp_path: Path) -> None:
    own = make_group(tmp_path / "container", pids=f"0\n{os.getpid()}\n")

    assert share_out(own, "memory") is None
    assert not (own / "worker").exists()


def test_a_controller_that_the_group_does_not_have_moves_nobody(tmp_path: Path) -> None:
    own = make_group(tmp_path / "service", controllers="pids", pids=f"{os.getpid()}\n")

    assert share_out(own, "memory") is None
    assert not (own / "worker").exists()


def test_the_next_slot_makes_its_groups_where_the_first_one_did(tmp_path: Path) -> None:
    own = make_group(tmp_path / "service", shared="memory pids")
    leaf = make_group(own / "worker", pids=f"{os.getpid()}\n")

    assert share_out(own, "pids") == own
    assert share_out(leaf, "pids") == own


def test_the_root_shares_out_with_processes_in_it(tmp_path: Path) -> None:
    own = make_group(tmp_path / "root", pids="1\n")
    (own / "cgroup.type").unlink()

    assert share_out(own, "memory") == own
    assert not (own / "worker").exists()


def test_a_group_that_refuses_a_leaf_gives_nothing(tmp_path: Path) -> None:
    own = make_group(tmp_path / "service", pids=f"{os.getpid()}\n")
    (own / "worker").write_text("in the way")

    assert share_out(own, "memory") is None
    assert (own / "cgroup.subtree_control").read_text() == ""


def test_the_groups_of_a_launcher_that_died_are_swept_and_no_others(tmp_path: Path) -> None:
    """A number that is free here may be a living launcher's in another pid namespace."""
    living = name_groups(7)
    dead, elsewhere = living.replace(f"-{os.getpid()}-", "-999999999-"), "unwind-999999999-1-7"
    for name in (living, dead, elsewhere):
        (tmp_path / name).mkdir()

    _sweep(tmp_path)

    assert {folder.name for folder in tmp_path.iterdir()} == {living, elsewhere}
