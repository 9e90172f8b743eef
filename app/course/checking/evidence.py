"""evidence.json: the date, machine and version of each claim's last run. Pure: takes and returns text."""

import hashlib
import json

from pydantic import BaseModel, ConfigDict, ValidationError

from app.course.blocks import Claim
from app.course.model import Evidence
from app.course.problems import Report, Rule


class EvidenceEntry(BaseModel):
    """One claim's last run. `content` is the hash of the code that was run; if it differs now, the entry is stale."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    held: bool
    torch: str
    device: str
    python: str
    checked_on: str
    seconds: float
    content: str
    message: str = ""


class EvidenceFile(BaseModel):
    """A chapter's evidence, by claim id."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    format: int = 1
    claims: dict[str, EvidenceEntry] = {}


def hash_claim(claim: Claim) -> str:
    """Identifies the run of a claim by its code and what it needs. Its sentence may be reworded freely."""
    return hashlib.sha256(f"{claim.needs}\n{claim.code}".encode()).hexdigest()[:16]


def read_evidence(text: str, report: Report) -> EvidenceFile:
    """The file's entries; a file that cannot be read is reported and treated as empty."""
    try:
        return EvidenceFile.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        message = f"{field}: {first['msg']}"
        report.add(1, Rule.EVIDENCE_FILE, field, message, "delete the file and run `python -m app check` again")
        return EvidenceFile()


def write_evidence(file: EvidenceFile) -> str:
    """The file's text, sorted so that a commit shows what changed and nothing else."""
    return json.dumps(file.model_dump(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def evidence_of(claim: Claim, file: EvidenceFile) -> Evidence | None:
    """The evidence for the claim's present code; None if the code has changed since it was run."""
    entry = file.claims.get(claim.id)
    if entry is None or entry.content != hash_claim(claim):
        return None
    return Evidence(**entry.model_dump(exclude={"content"}))
