"""Writes the files that the check draws and measures: a variant's draws, and a measurement with its machine."""

import os
import platform
from pathlib import Path

from app.checking.writing import replace_file, wall_seconds
from app.course.drills.drill import FOLDER, Drill
from app.course.drills.keeping import make_evidence, write_evidence
from app.course.drills.proving import read_proof
from app.course.questions.committed import MEASURES, VARIANTS, MeasureFile, hash_measure, write_file
from app.course.questions.variant_check import MeasureCheck, VariantCheck, make_variant_file, read_table
from graders.contract.hello import WorkerHello
from graders.contract.results import RunEnd


def write_variant(root: Path, check: VariantCheck, result: RunEnd, hello: WorkerHello | None) -> None:
    """Writes a question's draws to its committed file."""
    file = make_variant_file(check, result, hello.torch if hello else "")
    replace_file(_make_folder(root, check.chapter.slug, VARIANTS) / f"{check.question.id}.json", write_file(file))


def write_measure(root: Path, check: MeasureCheck, result: RunEnd, hello: WorkerHello | None, today: str) -> None:
    """Writes a measurement with the machine that it was taken on, which is this one: the graders run here too."""
    columns = read_table(result.stdout)
    assert not isinstance(columns, str), columns
    file = MeasureFile(
        content=hash_measure(check.measure),
        torch=hello.torch if hello else "",
        columns=columns,
        device=hello.device if hello else "",
        machine=name_machine(),
        python=hello.python if hello else "",
        measured_on=today,
        seconds=wall_seconds(result),
    )
    replace_file(_make_folder(root, check.chapter.slug, MEASURES) / f"{check.measure.id}.json", write_file(file))


def write_drill_evidence(root: Path, drill: Drill, result: RunEnd, hello: WorkerHello | None) -> None:
    """Writes what the check proved of a drill beside it."""
    evidence = make_evidence(drill, read_proof(drill, result), hello.torch if hello else "")
    replace_file(root / FOLDER / f"{drill.id}.json", write_evidence(evidence))


def _make_folder(root: Path, slug: str, kind: str) -> Path:
    folder = root / "chapters" / slug / kind
    folder.mkdir(exist_ok=True)
    return folder


def name_machine() -> str:
    """This machine's processor and the number of usable cores, in words."""
    names = (line.partition(":")[2].strip() for line in _processor_lines() if line.startswith("model name"))
    cores = len(os.sched_getaffinity(0))
    return f"{next(names, platform.machine())}, {cores} core{'' if cores == 1 else 's'}"


def _processor_lines() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
    except OSError:
        return []
