"""The published versions in the data folder: the live one is found by every process, and a bad file by none."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from graders.contract.course_versions import (
    GIVEN,
    Live,
    courses_folder,
    list_courses,
    list_versions,
    live_course,
    read_live,
    version_folder,
    write_live,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OLD, NEW = "20260301-120000-0123abcd", "20260302-120000-4567cdef"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in (OLD, NEW):
        version_folder(tmp_path, name).mkdir(parents=True)
    return tmp_path


def test_without_a_publication_the_given_folder_is_the_course(tmp_path: Path) -> None:
    assert read_live(tmp_path) is None
    assert live_course(tmp_path, Path("given")) == Path("given")
    assert list_courses(tmp_path, Path("given")) == (Path("given"),)


def test_the_live_version_comes_first_and_the_others_are_kept(data: Path) -> None:
    write_live(data, Live(version=OLD, before=NEW, at=NOON))

    assert list_versions(data) == (NEW, OLD)
    assert list_courses(data, Path("given")) == (
        courses_folder(data) / OLD,
        courses_folder(data) / NEW,
        Path("given"),
    )
    write_live(data, Live(version=GIVEN, before=OLD, at=NOON))
    assert list_courses(data, Path("given"))[0] == Path("given")


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"version": "../../etc", "before": "", "at": "2026-03-01T12:00:00Z"}', '{"version": 7}', "x" * 5000],
)
def test_a_file_that_names_no_version_counts_as_none(data: Path, text: str) -> None:
    (courses_folder(data) / "live.json").write_text(text, encoding="utf-8")

    assert live_course(data, Path("given")) == Path("given")


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    for name in ("..", f"{OLD}/..", "", "live.json"):
        with pytest.raises(ValueError, match="names no version"):
            version_folder(tmp_path, name)
