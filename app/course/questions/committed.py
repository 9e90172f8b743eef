"""variants/ID.json and measures/ID.json: what the check drew or measured, committed with a chapter. Pure."""

import hashlib
import json
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from app.course.blocks import Measure, Measurement, Value, VariantDraw
from app.course.checking.hidden_setup import cell_job, variant_job
from app.course.problems import Report, Rule
from app.course.questions.question import QuestionBase
from graders.contract.jobs import Device, RunJob
from graders.contract.limits import CELL_LIMITS

VARIANTS, MEASURES = "variants", "measures"


class _Fields(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    format: int = 1
    content: str
    """The hash of the code that was run; if the code's hash differs now, the file is stale."""
    torch: str


class DrawEntry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    seed: int
    values: dict[str, Value]


class VariantFile(_Fields):
    """The draws of one question."""

    draws: tuple[DrawEntry, ...]


class MeasureFile(_Fields):
    """One measurement: a table by columns, with its date, machine and versions."""

    columns: dict[str, tuple[Value | None, ...]]
    device: str
    machine: str
    python: str
    measured_on: str
    seconds: float


File = TypeVar("File", bound=_Fields)


def hash_variant(question: QuestionBase) -> str:
    """Identifies the draws of a question by its generator and their number; its wording may change freely."""
    return _hash(_write_job(variant_job(question.variant))) if question.variant else ""


def hash_measure(measure: Measure) -> str:
    return _hash(_write_job(cell_job(measure.cell)))


def _write_job(job: RunJob) -> str:
    """As JSON, without what is as it was before jobs could say it: what was committed then stays valid."""
    later: dict[str, Any] = {"limits": {"card_mib"}} if job.limits.card_mib == CELL_LIMITS.card_mib else {}
    if job.device is Device.CPU:
        later["device"] = True
    return job.model_dump_json(exclude=later)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_file(text: str, model: type[File], report: Report) -> File | None:
    """The file's content; a file that cannot be read is reported and treated as missing."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        remedy = "delete the file and run `python -m app check --update`"
        report.add(1, Rule.EVIDENCE_FILE, field, f"{field}: {first['msg']}", remedy)
        return None


def write_file(file: _Fields) -> str:
    """The file's text, with one draw or one column per line."""
    document = file.model_dump(mode="json")
    lines = [f" {json.dumps(name)}: {_write_part(part)}" for name, part in document.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _write_part(part: object) -> str:
    if isinstance(part, list):
        return "[\n" + ",\n".join(f"  {json.dumps(item, ensure_ascii=False)}" for item in part) + "\n ]"
    if isinstance(part, dict):
        items = (f"  {json.dumps(name)}: {json.dumps(item, ensure_ascii=False)}" for name, item in part.items())
        return "{\n" + ",\n".join(items) + "\n }"
    return json.dumps(part, ensure_ascii=False)


def draws_of(file: VariantFile) -> tuple[VariantDraw, ...]:
    return tuple(VariantDraw(entry.seed, entry.values) for entry in file.draws)


def measurement_of(file: MeasureFile, measure: Measure) -> Measurement:
    """What a page shows; `stale` says that the code has changed since."""
    return Measurement(
        columns=file.columns,
        torch=file.torch,
        device=file.device,
        machine=file.machine,
        python=file.python,
        measured_on=file.measured_on,
        seconds=file.seconds,
        stale=file.content != hash_measure(measure),
    )
