"""An exercise as a folder that needs no course: its files, where it comes from, its licence. Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from app.course.model import Course
from graders.contract.exercise_files import digest_exercise
from graders.contract.jobs import Flavour
from graders.contract.manifest import Manifest, Slug

LICENCE, ORIGIN, README = "LICENSE", "origin.toml", "README.md"
NO_LICENCE = "none was stated: ask the authors of the course"
SHOWN_TO_LEARNERS = ("prompt.md", "hints.md")
CODE_OR_LINK = re.compile(
    r"```.*?```|~~~.*?~~~|`[^`\n]*`|\$[^$\n]*\$|(?<!!)\[([^\]\n]*)\]\((?!https?:)[^)\s]*\)", re.S
)
"""What is not prose comes first, so that `rows[i](x)` in code is no link."""


class Origin(BaseModel):
    """origin.toml, version 1: which course an exercise was taken from, in which version. `digest` is of the files
    that judge; `concepts` has the words of those that exercise.toml names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = Field(ge=1, le=1)
    exercise: Slug
    course: str = Field(max_length=200)
    course_version: str = Field(max_length=64)
    torch: str = Field(max_length=40)
    digest: str = Field(max_length=64)
    licence: str = Field(max_length=300)
    concepts: dict[Slug, str] = Field(max_length=40)


@dataclass(frozen=True)
class Standalone:
    """The files of an exported exercise, by path within its folder."""

    origin: Origin
    files: Mapping[str, bytes]


def make_standalone(course: Course, name: str, files: Mapping[str, bytes], licence: bytes) -> Standalone:
    """The folder of one exercise of the course. `licence` is the course's file, empty if it has none.

    A folder that was imported keeps the licence that came with it.
    """
    manifest = course.exercises[name].manifest
    text = files.get(LICENCE, licence)
    origin = Origin(
        format=1,
        exercise=name,
        course=course.title,
        course_version=course.version,
        torch=course.torch if manifest.flavour is Flavour.TORCH else "",
        digest=digest_exercise(files),
        licence=_name_licence(text),
        concepts={each: course.concepts.get(each, "") for each in manifest.concepts},
    )
    made = dict(files)
    for each in SHOWN_TO_LEARNERS:
        if each in made:
            made[each] = _cut_links(made[each].decode("utf-8")).encode()
    if text:
        made[LICENCE] = text
    made[ORIGIN] = _write_origin(origin).encode()
    made[README] = _write_readme(origin, manifest).encode()
    return Standalone(origin, dict(sorted(made.items())))


def _cut_links(text: str) -> str:
    """Markdown whose links to the course's terms, chapters and files are plain words; other courses lack those."""
    return CODE_OR_LINK.sub(lambda found: found[0] if found[1] is None else found[1], text)


def _name_licence(text: bytes) -> str:
    """The first two lines of the licence, which name it and its version."""
    lines = [line.strip() for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    return f"{', '.join(lines[:2])[:240]} ({LICENCE})" if lines else NO_LICENCE


def _write_origin(origin: Origin) -> str:
    # A JSON string is a TOML string too, as long as characters stand for themselves.
    fields = origin.model_dump(exclude={"concepts"})
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    concepts = [f"{name} = {json.dumps(words, ensure_ascii=False)}" for name, words in origin.concepts.items()]
    return "\n".join([*lines, "", "[concepts]", *concepts, ""])


def _write_readme(origin: Origin, manifest: Manifest) -> str:
    needs = f"torch {origin.torch}".strip() if manifest.flavour is Flavour.TORCH else "no torch"
    hunt = " --category KIND --line NUMBER" if manifest.diagnosis else ""
    return f"""# {manifest.title}

This folder is one exercise of the course “{origin.course}”, version `{origin.course_version}`. It needs no other file
of that course. Licence: {origin.licence}.

- `prompt.md` is the task, `starter.py` where to begin, `hints.md` has three hints.
- `solution.py`, `cases.py`, `probe.py` (`host.py` and `benchmark.py`, if there are any) judge an answer; they
  are not for learners.
- `attempts/` has known answers, right and wrong; `exercise.toml` says what each of them must get.

To judge an answer, in a copy of Unwind, with its environment ({needs}):

```sh
python -m graders grade path/to/{origin.exercise} answer.py{hunt}
```

To add the exercise to a course: `python -m app import path/to/{origin.exercise} --course path/to/course`. This proves
it first, and runs `solution.py` and `cases.py` outside the sandbox: do so only if you trust their author.
"""
