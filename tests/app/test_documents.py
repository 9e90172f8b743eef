"""What operators and clients read about the website is complete: a setting or an endpoint left out fails here."""

import re
from pathlib import Path

from app.main import API
from app.settings import Settings
from app.web.rates import PER_MINUTE

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_setting_is_documented_and_nothing_else() -> None:
    documented = set(re.findall(r"^\| `(UNWIND_[A-Z_]+)`", (DOCS / "settings.md").read_text(encoding="utf-8"), re.M))

    assert documented == {f"UNWIND_{name.upper()}" for name in Settings.model_fields}


def test_every_endpoint_of_the_api_is_documented_and_nothing_else() -> None:
    text = (DOCS / "http-api.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `([A-Z]+ /api/[^`]+)`", text, re.M))

    served = {
        f"{method} {re.sub(r':path', '', route.path)}"
        for router in API
        for route in router.routes
        for method in getattr(route, "methods", ())
    }
    assert documented == served


def test_the_documented_limits_are_the_real_ones() -> None:
    text = (DOCS / "settings.md").read_text(encoding="utf-8")

    assert [count for count in PER_MINUTE.values() if not re.search(rf"\b{count} [a-z]", text)] == []
