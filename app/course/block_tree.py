"""A chapter's blocks as a tree: the union of all blocks, the two that contain others, and walks through them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from app.course.blocks import Html, PlainBlock
from app.course.questions.kinds import Question

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Box:
    """A boxed aside; `kind` is one of the names in docs/writing-a-chapter.md, e.g. core-idea, careful, takeaways."""

    kind: str
    title: Html
    blocks: "tuple[Block, ...]"


@dataclass(frozen=True)
class Reveal:
    """Text that a reader opens: the answer to an interview question (with a level) or to an FAQ entry, or a fold."""

    kind: Literal["interview", "faq", "fold"]
    prompt: Html
    level: str
    blocks: "tuple[Block, ...]"


Block = PlainBlock | Question | Box | Reveal


def blocks_within(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """Every block, nested ones included, in reading order."""
    for block in blocks:
        yield block
        if isinstance(block, Box | Reveal):
            yield from blocks_within(block.blocks)


def blocks_of(kind: type[Kind], blocks: tuple[Block, ...]) -> tuple[Kind, ...]:
    """The blocks of one kind, e.g. every claim of a chapter."""
    return tuple(block for block in blocks_within(blocks) if isinstance(block, kind))
