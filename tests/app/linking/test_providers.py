"""The file of providers: read whole, or refused with the place of the mistake."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from app.linking.providers import read_providers
from app.settings import Settings

GOOD = """
[university]
issuer = "https://login.university.example"
client_id = "unwind"
client_secret = "hidden"
label = "University login"
email_domains = ["university.example"]
required_claims = { affiliation = "student" }
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "providers.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_provider_is_read_and_its_secret_does_not_show(tmp_path: Path) -> None:
    providers = read_providers(write(tmp_path, GOOD))

    assert list(providers) == ["university"]
    assert providers["university"].required_claims == {"affiliation": "student"}
    assert "hidden" not in repr(providers)
    assert read_providers(None) == {}


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("https://", "http://"),
        GOOD.replace("https://login.university.example", "login.university.example"),
        GOOD.replace("[university]", '["Uni/versity"]'),
        GOOD + 'lable = "a misspelled field"\n',
        GOOD.replace('client_id = "unwind"\n', ""),
        "[university\n",
    ],
)
def test_a_mistake_in_the_file_stops_the_start(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValidationError, match="UNWIND_PROVIDERS") as refusal:
        Settings(providers=write(tmp_path, text))
    assert "hidden" not in str(refusal.value)


def test_production_needs_a_name_to_send_people_back_to(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)

    with pytest.raises(ValidationError, match="UNWIND_HOSTS"):
        Settings(env="production", secret="s" * 40, providers=path)
    named = Settings(env="production", secret="s" * 40, providers=path, hosts="learn.example")
    assert named.address == "https://learn.example"
