"""exercise.toml: what an author writes about an exercise. Both website and worker read it."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from graders.contract.chart import Chart
from graders.contract.jobs import Device, Diagnosed, Flavour
from graders.contract.limits import Limits
from graders.contract.model import Message
from graders.contract.results import Outcome

TOO_LONG = "too-long"
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]


class Difficulty(StrEnum):
    """Manifests and URLs use the value; learners read the label."""

    FIRST_STEPS = "first steps"
    STEADY = "steady"
    DEEP = "deep"

    @property
    def label(self) -> str:
        return {"first steps": "easy", "steady": "medium", "deep": "hard"}[self.value]


class Judge(StrEnum):
    """What a submission is judged by: its answers, its schedule on a metered machine, or both in turn."""

    ANSWERS = "answers"
    MACHINE = "machine"
    BOTH = "both"


class Inputs(StrEnum):
    """Whether a submission may change the inputs of a case. If not, the judge compares them after the answer."""

    MAY_CHANGE = "may_change"
    UNTOUCHED = "untouched"


class FindingText(Message):
    """What a learner reads when a case with this finding fails."""

    short: str
    long: str = ""


class Attempt(Message):
    """A known answer in attempts/, and the result that it must get. The course's check proves it."""

    file: str
    outcome: Outcome
    finding: str | None = None
    cheat: bool = False
    category: Slug | None = None
    """The category of fault that it chooses, by default the right one. Only for a bug hunt, like `line`."""
    line: Annotated[int, Field(ge=1)] | None = None
    why: str


class Diagnosis(Message):
    """What a bug hunt asks besides the fixed code: the kind of fault, and the guilty line of starter.py."""

    categories: dict[Slug, str]
    """The kinds of fault that the learner chooses from, each described in a sentence."""
    answer: Slug
    lines: Annotated[tuple[int, ...], Field(min_length=1)]
    """The guilty lines of starter.py, from 1; any one of them is right."""

    @model_validator(mode="after")
    def _answer_is_offered(self) -> Self:
        if self.answer not in self.categories:
            raise ValueError(f"answer {self.answer!r} is not one of the categories {', '.join(self.categories)}")
        return self


class Checks(Message):
    """How many cases every run draws. Learners see it before they run; the course's check proves it."""

    public: Annotated[int, Field(ge=1, le=64)]
    hidden: Annotated[int, Field(ge=0, le=64)]


class Benchmark(Message):
    """How benchmark.py times a right answer: shown, ranked among the learner's own attempts, never credited."""

    runs: Annotated[int, Field(ge=3, le=200)] = 20
    warm_up: Annotated[int, Field(ge=0, le=50)] = 3


class Brevity(Message):
    """How long a submission may be; a longer one fails with the exercise's finding `too-long`, before it runs."""

    statements: Annotated[int, Field(ge=1, le=1000)]
    characters: Annotated[int, Field(ge=100, le=20_000)] = 2000


class Tolerance(Message):
    """An answer a matches e when |a - e| <= absolute + relative * |e|, elementwise (numpy.isclose's rule)."""

    absolute: Annotated[float, Field(ge=0)] = 1e-9
    relative: Annotated[float, Field(ge=0)] = 1e-7


class Manifest(Message):
    """exercise.toml, version 1."""

    format: Annotated[int, Field(ge=1, le=1)]
    title: str
    summary: str
    kind: str
    difficulty: Difficulty
    minutes: Annotated[int, Field(ge=1, le=240)]
    concepts: tuple[Slug, ...]
    flavour: Flavour
    device: Device = Device.CPU
    """Unless `cpu`, graders with a card judge it. The reference always runs on the processor."""
    judge: Judge = Judge.ANSWERS
    memory_meter: bool = False
    """Whether a case is judged by its peak memory; then only a worker with a memory cgroup can judge it."""
    inputs: Inputs = Inputs.MAY_CHANGE
    limits: Limits = Limits()
    tolerance: Tolerance = Tolerance()
    checks: Checks | None = None
    diagnosis: Diagnosis | None = None
    chart: Chart | None = None
    benchmark: Benchmark | None = None
    brevity: Brevity | None = None
    ranking: bool = False
    """Whether those who passed are ranked by the share of its bounds that a program held at once."""
    findings: dict[Slug, FindingText]
    attempts: tuple[Attempt, ...]
    draft: bool = False
    """Not for learners yet: only the author's preview shows it."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.device is not Device.CPU and self.flavour is not Flavour.TORCH:
            raise ValueError(f"device {self.device.value!r} needs flavour 'torch', not {self.flavour.value!r}")
        if self.device is not Device.CPU and self.memory_meter:
            raise ValueError(f"device {self.device.value!r} excludes memory_meter, which counts the machine's memory")
        if self.brevity is not None and TOO_LONG not in self.findings:
            raise ValueError(f"an exercise with [brevity] needs [findings.{TOO_LONG}]")
        if self.benchmark is not None and self.flavour is not Flavour.TORCH:
            raise ValueError(f"a benchmark needs flavour 'torch', and flavour is {self.flavour.value!r}")
        return self

    def diagnosed_by(self, attempt: Attempt | None = None) -> Diagnosed | None:
        """An attempt's diagnosis, as a learner would give it; the right one where the attempt gives none."""
        asked = self.diagnosis
        if asked is None:
            return None
        category, line = (attempt.category, attempt.line) if attempt else (None, None)
        return Diagnosed(category=category or asked.answer, line=line or asked.lines[0])
