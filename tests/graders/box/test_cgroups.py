"""Both versions of control groups are written and read in their own words."""

from pathlib import Path

import pytest

from graders.box.cgroups import Hierarchy, Quota, RunGroups

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
