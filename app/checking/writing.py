"""Writes the results of a proof into the course: evidence of claims, traces of graphs, outputs of cells."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from app.checking.outside import Tools, name_place
from app.course.checking.checks import ClaimCheck
from app.course.checking.evidence import EvidenceEntry, EvidenceFile, hash_claim, write_evidence
from app.course.checking.judging import say_end, tidy_output
from app.course.language.directive_scan import find_fences
from app.course.loader import load_evidence
from app.course.problems import Report
from graders.contract.examination import Examination
from graders.contract.hello import WorkerHello
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.contract.trace import Trace


class EvidenceBook:
    """The evidence files of a course, written as soon as a claim has run."""

    def __init__(self, root: Path, hello: WorkerHello, today: str, tools: Tools) -> None:
        self._root = root
        self._hello = hello
        self._tools = tools
        self._today = today
        self._files: dict[str, EvidenceFile] = {}

    def knows(self, check: ClaimCheck) -> bool:
        """Whether the file records that the claim's present code held on this torch and this kind of device."""
        entry = self._file(check.chapter.slug).claims.get(check.claim.id)
        if entry is None or not entry.held or entry.content != hash_claim(check.claim):
            return False
        hello = self._surroundings(check)
        return (entry.torch, entry.device) == (hello.torch, hello.device)

    def note(self, check: ClaimCheck, result: RunEnd) -> None:
        """Records a run. An unchanged result keeps its old date, so that a proof leaves no needless diff."""
        slug = check.chapter.slug
        held, hello = result.outcome is Outcome.OK, self._surroundings(check)
        entry = EvidenceEntry(
            held=held,
            torch=hello.torch,
            device=hello.device,
            python=hello.python,
            checked_on=self._today,
            seconds=wall_seconds(result),
            content=hash_claim(check.claim),
            message="" if held else say_end(result),
        )
        file = self._file(slug)
        known = file.claims.get(check.claim.id)
        if known is not None and _essence(known) == _essence(entry):
            return
        self._keep(slug, {**file.claims, check.claim.id: entry})

    def _surroundings(self, check: ClaimCheck) -> WorkerHello:
        return name_place(self._hello, check.claim.needs, self._tools)

    def prune(self, slug: str, claims: Collection[str]) -> None:
        """Drops the evidence of claims that the chapter no longer makes; `claims` are the ids of those it makes."""
        file = self._file(slug)
        kept = {name: entry for name, entry in file.claims.items() if name in claims}
        if kept != file.claims:
            self._keep(slug, kept)

    def _file(self, slug: str) -> EvidenceFile:
        if slug not in self._files:
            self._files[slug], _ = load_evidence(self._root, slug)
        return self._files[slug]

    def _keep(self, slug: str, claims: dict[str, EvidenceEntry]) -> None:
        self._files[slug] = EvidenceFile(claims=claims)
        replace_file(self._root / "chapters" / slug / "evidence.json", write_evidence(self._files[slug]))


def _essence(entry: EvidenceEntry) -> tuple[object, ...]:
    return entry.held, entry.torch, entry.device, entry.python, entry.content, entry.message


def wall_seconds(result: RunEnd | Verdict | Examination) -> float:
    """The seconds that a run took, as measured by the box; 0 if it was never started, or needed no box."""
    if isinstance(result, Examination):
        return 0.0
    measured = next((measure.value for measure in result.measures if "wall" in measure.name), 0.0)
    return round(measured, 3)


def write_trace(path: Path, trace: Trace) -> None:
    """Commits a graph's trace, from which its picture is drawn: one column per line, so that a diff can be read."""
    document = trace.model_dump(mode="json", exclude_defaults=True)
    sections = [f"{json.dumps(name)}: {_write_section(section)}" for name, section in document.items()]
    path.parent.mkdir(exist_ok=True)
    replace_file(path, "{\n" + ",\n".join(sections) + "\n}\n")


def _write_section(section: object) -> str:
    if not isinstance(section, dict):
        return json.dumps(section, ensure_ascii=False)
    columns = [f" {json.dumps(name)}: {json.dumps(column, ensure_ascii=False)}" for name, column in section.items()]
    return "{\n" + ",\n".join(columns) + "\n}"


def write_outputs(root: Path, path: str, outputs: Mapping[str, str]) -> None:
    """Replaces the outputs in a chapter with what its cells printed; `outputs` is by cell id."""
    file = root / path
    lines = file.read_text(encoding="utf-8").split("\n")
    fences = find_fences(lines, Report(path))
    for fence in sorted(fences.values(), key=lambda fence: -fence.open):
        output = outputs.get(fence.argument)
        body = [line.rstrip() for line in lines[fence.body : fence.close]]
        if fence.name == "cell" and output is not None and "---" in body:
            first = fence.body + body.index("---") + 1
            lines[first : fence.close] = tidy_output(output).split("\n")
    replace_file(file, "\n".join(lines))


def replace_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
