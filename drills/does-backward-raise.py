"""A tensor changed in place: backward raises only if an operation on the loss's path saved it before the change."""

from dataclasses import dataclass, field
from random import Random

from program import Program, draw_names, draw_number

RAISES, RETURNS = "raises an error", "returns, without an error"
RESULT, INPUTS, NOTHING = "result", "inputs", "nothing"
SAVES = {
    "{}.exp()": RESULT, "{}.tanh()": RESULT, "{}.sigmoid()": RESULT, "{}.sin()": INPUTS, "{}.cos()": INPUTS,
    "{} ** 2": INPUTS, "{} * {}": INPUTS, "{} + {}": NOTHING, "{} - {}": NOTHING,
}  # fmt: skip
ALONE = [op for op in SAVES if op.count("{}") == 1]
EDITS = ["{} += {}", "{} *= {}", "{}.add_({})", "{}.mul_({})", "{}[0] = {}", "{}.fill_({})"]
VALUE_NEEDED = "The edited value is needed."
ONLY_IF_SAVED = "An edit is an error only if the value that it overwrites was saved."
ONLY_IF_COUNTED = "An edit is an error only if the version counter shows it."
SAVED_BEFORE = (
    "saved {0} for its derivative, and {1} changed {0} afterwards. Backward compares the version counters: “one of "
    "the variables needed for gradient computation has been modified by an inplace operation”."
)
SAVED_AFTER = "saved {0} after the edit, so its version counter has not moved since."
NEVER_SAVED = "changes a tensor that no operation saved. No derivative needs the old value of {0}."
BYPASSED = "changes a saved tensor, but .data has a version counter of its own: the gradient may be wrong, silently."
PAST_THE_COUNTER = ["{}.data.add_({})", "{}.data.mul_({})"]


@dataclass
class Saved:
    """What an operation keeps: the tensor, how often it had been changed until then, and the operation's line."""

    tensor: str
    changes: int
    line: str


@dataclass
class Draft:
    """A program as it grows, and what each of its operations saves."""

    program: Program = field(default_factory=Program)
    saved: list = field(default_factory=list)
    changes: dict = field(default_factory=dict)
    saved_before_edit: list = field(default_factory=list)

    def let(self, name: str, op: str, inputs: list) -> None:
        self.program.let(name, op, *inputs)
        kept = {RESULT: [name], INPUTS: inputs, NOTHING: []}[SAVES[op]]
        line = f"{name} = {op.format(*inputs)}"
        self.saved += [Saved(tensor, self.changes.get(tensor, 0), line) for tensor in dict.fromkeys(kept)]

    def change(self, name: str, line: str, counted: bool) -> None:
        self.program.define(line)
        self.saved_before_edit = [one for one in self.saved if one.tensor == name]
        if counted:
            self.changes[name] = self.changes.get(name, 0) + 1

    def stale(self) -> list:
        """What was saved and changed afterwards. Every operation is on the path to the loss."""
        return [one for one in self.saved if one.changes != self.changes.get(one.tensor, 0)]


def draw(rng: Random, level: int) -> dict:
    wanted = rng.choice([RAISES, RETURNS])
    while True:
        values = build(rng, level)
        if values["answer"] == wanted:
            return values


def build(rng: Random, level: int) -> dict:
    leaf, *names, loss = draw_names(rng, level + 4)
    draft = Draft()
    draft.program.leaf(leaf, [draw_number(rng), draw_number(rng)])
    edited = rng.choice(names[:-1])
    moment = rng.randrange(names.index(edited), len(names))
    counted = level < 3 or rng.random() < 0.6
    edit = rng.choice(EDITS if counted else PAST_THE_COUNTER).format(edited, draw_number(rng))
    tensors = [leaf]
    for place, name in enumerate(names):
        op = rng.choice(list(SAVES) if len(tensors) > 1 else ALONE)
        draft.let(name, op, [tensors[-1], rng.choice(tensors[:-1])] if op.count("{}") == 2 else [tensors[-1]])
        tensors.append(name)
        if place == moment:
            draft.change(edited, edit, counted)
    draft.program.let(loss, "{}.sum()", names[-1])
    draft.program.backward(loss)
    return {"code": draft.program.source(), "observe": "backward-ends", **judge(draft, edited, edit)}


def judge(draft: Draft, edited: str, edit: str) -> dict:
    """The answer, the line that decides it, and for the reader who expected the opposite the rule they missed."""
    stale, readers = draft.stale(), [one.line for one in draft.saved if one.tensor == edited]
    values = {"edited": edited, "answer": RETURNS, "other": RAISES, "rule": ONLY_IF_SAVED, "operation": edit}
    if stale:
        decided = {"answer": RAISES, "other": RETURNS, "rule": VALUE_NEEDED}
        return values | decided | {"operation": stale[0].line, "fact": SAVED_BEFORE.format(edited, edit)}
    if not readers:
        return values | {"fact": NEVER_SAVED.format(edited)}
    if draft.saved_before_edit:
        return values | {"rule": ONLY_IF_COUNTED, "fact": BYPASSED}
    return values | {"operation": readers[0], "fact": SAVED_AFTER.format(edited)}
