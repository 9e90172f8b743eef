"""What is missing before the start gets one sentence with the remedy."""

import os
import socket
import sqlite3
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.preflight import CannotServe, check_data_folder, check_disk, check_port, prepare
from app.settings import Settings
from app.storage.database import show_url


def test_a_good_place_is_prepared_and_migrated(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "data"
    prepare(Settings(data=data, port=0))
    connection = sqlite3.connect(data / "unwind.sqlite3")
    assert connection.execute("SELECT count(*) FROM submissions").fetchone() == (0,)
    connection.close()


def test_a_taken_port_is_named_with_the_next_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotServe, match=rf"Port {port} is used .* PORT={port + 1}"):
            check_port("127.0.0.1", port)


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(CannotServe, match=r"192\.0\.2\.1 is not an address of this machine"):
        check_port("192.0.2.1", 8000)


def test_a_data_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotServe, match=r"cannot be written .* DATA="):
        check_data_folder(tmp_path / "file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_data_folder_without_write_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CannotServe, match="Permission denied"):
        check_data_folder(tmp_path / "data")


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.preflight.LEAST_FREE_MIB", 2**40)
    with pytest.raises(CannotServe, match="is full"):
        check_disk(tmp_path)


def test_a_database_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "unwind.sqlite3").write_text("this is no database at all " * 100)
    with pytest.raises(CannotServe, match="cannot be brought up to date"):
        prepare(Settings(data=tmp_path, port=0))


def test_a_changed_secret_is_told_once_with_what_it_means(tmp_path: Path) -> None:
    first, second = (Settings(data=tmp_path, port=0, secret=SecretStr(letter * 40)) for letter in "ab")

    told = [prepare(first), prepare(first), prepare(second), prepare(second)]

    assert [bool(sentence) for sentence in told] == [False, False, True, False]
    assert "set the former secret and start again" in told[2]
    assert "b" * 8 not in (tmp_path / "secret.fingerprint").read_text()


def test_a_database_of_a_newer_version_is_refused_in_words(tmp_path: Path) -> None:
    prepare(Settings(data=tmp_path, port=0))
    connection = sqlite3.connect(tmp_path / "unwind.sqlite3")
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()

    with pytest.raises(CannotServe, match=r"made by a newer version .*9999.* start\s+that version"):
        prepare(Settings(data=tmp_path, port=0))


def test_a_damaged_database_is_refused_in_words(tmp_path: Path) -> None:
    prepare(Settings(data=tmp_path, port=0))
    file = tmp_path / "unwind.sqlite3"
    content = bytearray(file.read_bytes())
    content[4096 * 3 : 4096 * 8] = b"\xff" * (4096 * 5)
    file.write_bytes(content)

    with pytest.raises(CannotServe, match=r"newest backup"):
        prepare(Settings(data=tmp_path, port=0))


def test_what_is_no_database_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "unwind.sqlite3").write_bytes(b"not a database at all" * 500)

    with pytest.raises(CannotServe, match=r"cannot be brought up to date .*newest backup"):
        prepare(Settings(data=tmp_path, port=0))


def test_a_database_s_password_is_not_shown() -> None:
    assert "hunter2" not in show_url("postgresql://ada:hunter2@db/unwind")


def test_a_new_data_folder_is_its_owner_s_alone(tmp_path: Path) -> None:
    check_data_folder(tmp_path / "data")

    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "does not exist: choose the course's folder"),
        ("title = ", "course.toml:1: "),
        ("format = 1", "is missing"),
    ],
)
def test_a_course_that_cannot_be_read_is_not_served(tmp_path: Path, text: str | None, words: str) -> None:
    course = tmp_path / "course"
    course.mkdir()
    if text is not None:
        (course / "course.toml").write_text(text)

    with pytest.raises(CannotServe, match=words):
        prepare(Settings(data=tmp_path / "data", port=0, course=course))
    prepare(Settings(data=tmp_path / "data", port=0, course=course, preview=True))
