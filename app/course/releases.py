"""torch-releases.json: which claims held on which releases of torch. Pure: takes and returns text."""

import json
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, ValidationError

from app.course.problems import Report, Rule

FILE = "torch-releases.json"


class ClaimResult(BaseModel):
    """`content` is the hash of the code that ran; `message` says why it did not hold, and is empty if it did."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    content: str
    message: str = ""


class ReleaseRun(BaseModel):
    """All claims on one release, by "chapter/claim"."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    build: str
    """The version in full, such as 2.12.1+cu130."""
    python: str
    ran_on: str
    claims: dict[str, ClaimResult]


class ReleasesFile(BaseModel):
    """Runs by release, and why other releases were not run."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    format: int = 1
    runs: dict[str, ReleaseRun] = {}
    not_run: dict[str, str] = {}


def read_releases(text: str, report: Report) -> ReleasesFile:
    """The file's runs; a file that cannot be read is reported and treated as empty."""
    try:
        return ReleasesFile.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        remedy = "delete the file and run `python -m app releases` again"
        report.add(1, Rule.EVIDENCE_FILE, field, f"{field}: {first['msg']}", remedy)
        return ReleasesFile()


def write_releases(file: ReleasesFile) -> str:
    """The file's text, sorted so that a commit shows what changed and nothing else."""
    document = file.model_dump(exclude_defaults=True) | {"format": file.format}
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def order_releases(releases: Iterable[str]) -> list[str]:
    """Oldest first: 2.9.1 before 2.12.0."""
    return sorted(releases, key=lambda release: [int(part) for part in release.split(".") if part.isdigit()])
