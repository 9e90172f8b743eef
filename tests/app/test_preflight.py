"""What is missing before the start gets one sentence with the remedy."""

import os
import socket
import sqlite3
from pathlib import Path

import pytest

from app.preflight import CannotServe, check_data_folder, check_disk, check_port, prepare
from app.settings import Settings


def test_a_good_place_is_prepared_and_migrated(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "data"
    prepare(Settings(data=data, port=0))
    connection = sqlite3.connect(data / "unwind.sqlite3")
    assert connection.execute("SELECT count(*) FROM submissions").fetchone() == (0,)
    connection.close()


def test_a_taken_port_is_named_with_the_next_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotServe, match=rf"Port {port} is taken .* PORT={port + 1}"):
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
