"""Runs each node's formula beside the engine: what agrees is kept as text, with the numbers where they are few."""

import re
from collections import Counter
from functools import cache, lru_cache
from types import CodeType
from typing import Any

import torch

from ..graph import Row
from ..numerals import write_values
from ..tape import Event
from .formula import GRADIENT, GRADIENTS, Builder, Formula, write_bar
from .functions import FUNCTIONS
from .snapshot import Gradients, Kept, copy_gradients, copy_slots, revive
from .tables import BUILDERS

MAX_KEPT = 1_000
MAX_OTHERS = 24
"""Of each kind of node, where the numbers are too many to be written; the text of the rest is that of these, if they
all have one."""
MAX_ITEMS = 2_048
MAX_WRITTEN_ITEMS = 4
MAX_WRITTEN = 160
_PLAIN = frozenset({"ȳ", "-ȳ", ""})
_LETTER = re.compile(r"[^\W\d_]\w*")
_TOLERANCE = {torch.float64: 1e-7, torch.complex128: 1e-7, torch.float16: 2e-2, torch.bfloat16: 5e-2}


class Rulebook:
    """Keeps what steps worked with while the program runs, and runs their formulas afterwards."""

    def __init__(self) -> None:
        self._kept: list[Kept] = []
        self._left = MAX_KEPT
        self.is_open = True
        """Whether there is room for another step."""
        self._full: set[str] = set()
        self._others: Counter[str] = Counter()
        self._texts: dict[str, set[str]] = {}

    def has_enough(self, name: str, incoming: Any) -> bool:
        """Whether no more steps of nodes of this name are kept, as of tensors as large as this one."""
        if name not in self._full or len(incoming) != 1:
            return False
        received = incoming[0]
        return received is None or received.numel() > MAX_WRITTEN_ITEMS

    def keep(self, node: Any, row: Row, event: Event, gradients: tuple[Any, Any]) -> None:
        """Remember one step: what the node received and sent."""
        incoming, outgoing = gradients
        if find_builder(row.name) is None:
            self._full.add(row.name)
            return
        items = [each.numel() for each in incoming if each is not None]
        if not items:
            return
        largest = max(items + [each.numel() for each in outgoing if each is not None])
        if largest > MAX_WRITTEN_ITEMS:
            self._others[row.name] += 1
            if self._others[row.name] >= MAX_OTHERS:
                self._full.add(row.name)
        self._left -= 1
        self.is_open = self._left > 0
        is_small = largest <= MAX_ITEMS
        most = MAX_ITEMS if is_small else 0
        try:
            slots = copy_slots(node, most)
            sizes = tuple(tuple(each.shape) for each in node._input_metadata) if len(incoming) > 1 else ()
            received = copy_gradients(incoming, event.received, most)
            sent = copy_gradients(outgoing, event.sent, most)
            self._kept.append(Kept(row, event, slots, received, sent, sizes, is_small))
        except (RuntimeError, TypeError):
            return  # a hook packed the saved tensors, or they are no plain tensors

    def run(self) -> None:
        """Give each kept step's node its formula, and the step its numbers."""
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
            for kept in self._kept:
                kept.slots = {name: revive(value) for name, value in kept.slots.items()}
                kept.incoming, kept.outgoing = revive(kept.incoming), revive(kept.outgoing)
                text, kept.event.numbers = work(kept)
                kept.row.formula = text
                self._texts.setdefault(kept.row.name, set()).add(text)
        self._kept.clear()

    def find(self, row: Row) -> str:
        """A node's formula: its own, or that of all others of its name; "" where none is known to agree."""
        if row.formula is not None:
            return row.formula
        texts = self._texts.get(row.name, set())
        return next(iter(texts)) if len(texts) == 1 else ""


@cache
def find_builder(name: str) -> Builder | None:
    return BUILDERS.get(name) or BUILDERS.get(name.rstrip("0123456789"))


def work(kept: Kept) -> tuple[str, str]:
    """A step's formula as text, and with numbers in the place of its letters."""
    builder = find_builder(kept.row.name)
    try:
        formula = None if builder is None else builder(kept.slots)
        if formula is None or (kept.is_small and not agrees(kept, formula)):
            return "", ""
        return formula.text, write_numbers(formula, kept.incoming, kept.outgoing)
    except (RuntimeError, TypeError, ValueError, AttributeError, IndexError, KeyError, NotImplementedError):
        return "", ""  # a kind of number, or of index, that the formula is not written for


def agrees(kept: Kept, formula: Formula) -> bool:
    """Whether the formula gives each input the gradient that the engine gave it."""
    incoming, outgoing = kept.incoming, kept.outgoing
    names = {**FUNCTIONS, **formula.names, **formula.work_out(), "outgoing": outgoing}
    names[GRADIENTS] = fill_gaps(kept) if len(incoming) > 1 else incoming
    names[GRADIENT] = next((each for each in incoming if each is not None), None)
    for slot, sent in enumerate(outgoing):
        if sent is None:
            continue
        part = formula.find_part(slot)
        if not part:
            return False
        names.update(sent=sent, slot=slot)
        worked = eval(compile_part(part), {"__builtins__": {}}, names)
        if not is_close(worked, sent):
            return False
    return True


def fill_gaps(kept: Kept) -> Gradients:
    """The gradients of all outputs: zeros for one that nothing used."""
    known = next(each for each in kept.incoming if each is not None)
    sizes = zip(kept.incoming, kept.sizes, strict=True)
    return tuple(known.new_zeros(size) if each is None else each for each, size in sizes)


@lru_cache(maxsize=512)
def compile_part(part: str) -> CodeType:
    return compile(part, "<formula>", "eval")


def is_close(worked: Any, sent: Any) -> bool:
    """Equal to the precision of the numbers, after the sums that undo a broadcast."""
    if sent.layout != torch.strided:
        return False
    worked = worked.sum_to_size(sent.shape) if worked.shape != sent.shape else worked
    tolerance = _TOLERANCE.get(sent.dtype, 1e-4)
    largest = float(sent.abs().nan_to_num(0.0, 0.0, 0.0).max()) if sent.numel() else 0.0
    return bool(torch.allclose(worked.to(sent.dtype), sent, rtol=tolerance, atol=tolerance * largest, equal_nan=True))


def write_numbers(formula: Formula, incoming: Any, outgoing: Any) -> str:
    """`ā = 1.0 * 3.0,   b̄ = 1.0 * 2.0`, or "" where the numbers are many."""
    if (
        formula.shown
        or _PLAIN.issuperset(formula.parts)
        or any(each is not None and each.numel() > MAX_WRITTEN_ITEMS for each in (*incoming, *outgoing))
    ):
        return ""
    first = next((each for each in incoming if each is not None), None)
    names = {**formula.names, GRADIENT: first}
    pairs = zip(formula.inputs, formula.parts, outgoing, strict=False)
    worked = [
        f"{write_bar(letter)} = {_LETTER.sub(lambda match: write_letter(names, match.group()), part)}"
        for letter, part, sent in pairs
        if sent is not None and part
    ]
    text = ",   ".join(worked)
    return text if len(text) <= MAX_WRITTEN else ""


def write_letter(names: dict[str, Any], letter: str) -> str:
    """The number that a letter stands for; functions stay."""
    value = names.get(letter)
    if not isinstance(value, torch.Tensor):
        return letter if value is None else str(value)
    text = write_values(value.tolist())
    return f"({text})" if text.startswith("-") or (value.is_complex() and value.dim() == 0) else text
