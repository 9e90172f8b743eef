"""Settings come from the environment, and refuse what must not run in production."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from app.settings import Env, Settings, read_settings
from graders.contract.environment import describe_invalid
from graders.contract.settings import GraderSettings, SharedSettings

SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"UNWIND_{name.upper()}", raising=False)


def test_development_needs_no_settings_at_all() -> None:
    settings = read_settings()

    assert (settings.env, settings.secure_cookies) == (Env.DEVELOPMENT, False)
    assert settings.database.endswith("/var/unwind.sqlite3")


@pytest.mark.parametrize("secret", [None, "", "short"])
def test_production_refuses_a_default_or_short_secret(monkeypatch: pytest.MonkeyPatch, secret: str | None) -> None:
    monkeypatch.setenv("UNWIND_ENV", "production")
    if secret is not None:
        monkeypatch.setenv("UNWIND_SECRET", secret)

    with pytest.raises(ValidationError, match="UNWIND_SECRET"):
        read_settings()


@pytest.mark.parametrize("model", [Settings, GraderSettings])
@pytest.mark.parametrize("url", ["mysql://ann:secret@db/unwind", "postgresql+asyncpg://db/unwind", "/var/unwind.db"])
def test_another_database_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, model: type[SharedSettings], url: str
) -> None:
    monkeypatch.setenv("UNWIND_DATABASE_URL", url)

    with pytest.raises(ValidationError) as refusal:
        model()

    (line,) = describe_invalid(refusal.value).splitlines()
    assert line.startswith("UNWIND_DATABASE_URL begins with ")
    assert "write postgresql://user@host/name or sqlite:////path" in line
    assert "secret" not in line


@pytest.mark.parametrize("model", [Settings, GraderSettings])
def test_postgresql_without_its_driver_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, model: type[SharedSettings]
) -> None:
    monkeypatch.setenv("UNWIND_DATABASE_URL", "postgresql://ann:secret@db/unwind")
    assert model().database == "postgresql://ann:secret@db/unwind"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(ValidationError) as refusal:
        model()

    (line,) = describe_invalid(refusal.value).splitlines()
    assert line.endswith("psycopg is not installed: make environment-fleet installs it (docs/operating.md)")
    assert "secret" not in line


def test_another_sqlite_file_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWIND_DATABASE_URL", "sqlite:////srv/site.sqlite3")

    assert read_settings().database == GraderSettings().database == "sqlite:////srv/site.sqlite3"


def test_production_with_a_secret_of_its_own_has_secure_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWIND_ENV", "production")
    monkeypatch.setenv("UNWIND_SECRET", SECRET)

    assert read_settings().secure_cookies


def test_a_secret_does_not_show_when_settings_are_printed() -> None:
    assert SECRET not in repr(Settings(secret=SECRET))


def test_settings_do_not_change_after_the_start() -> None:
    with pytest.raises(ValidationError):
        Settings().port = 1  # type: ignore[misc]


def test_paths_are_absolute_wherever_the_process_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWIND_DATA", "somewhere")

    assert read_settings().data == Path.cwd() / "somewhere"
    assert read_settings().wakeups_folder == Path.cwd() / "somewhere" / "doorbell"


@pytest.mark.parametrize(
    ("name", "value"), [("UNWIND_PORT", "eighty"), ("UNWIND_PORT", "70000"), ("UNWIND_ENV", "test")]
)
def test_a_value_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(ValidationError):
        read_settings()
