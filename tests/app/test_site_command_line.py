"""The site's command line: commands, and settings that cannot be."""

from pathlib import Path

import pytest

from app.__main__ import main


def test_migrate_makes_the_database_where_the_settings_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UNWIND_DATA", str(tmp_path / "data"))

    assert main(["migrate"]) == 0
    assert (tmp_path / "data" / "unwind.sqlite3").is_file()
    assert "up to date" in capsys.readouterr().out


def test_a_setting_that_cannot_be_is_named_with_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UNWIND_PORT", "eighty")

    assert main(["migrate"]) == 2
    assert capsys.readouterr().err.startswith("UNWIND_PORT: ")


def test_a_public_secret_in_production_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UNWIND_ENV", "production")

    assert main(["serve"]) == 2
    refusal = capsys.readouterr().err
    assert refusal.startswith("UNWIND_SECRET is the public default")
    assert "secrets.token_hex" in refusal


@pytest.mark.parametrize("arguments", [[], ["fly"], ["migrate", "--now"]])
def test_an_unknown_command_or_option_is_a_usage_error(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err
