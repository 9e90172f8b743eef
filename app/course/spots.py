"""The spots of a course that a reader can point at: their keys, and a hash of what is written there. Pure.

A block is named by its author's id, or, where it has none, by its section and its number among such blocks there.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path

from app.course.block_tree import Block
from app.course.blocks import ExerciseLink, Heading, LadderPlace

BEFORE_HEADINGS = "top"
NOT_WRITTEN = frozenset({"where", "code_line", "trace_path", "committed", "draws", "content_hash"})
"""Fields that change while the words stay: where a block is in its file, and what the check measured and drew."""
HASH_DIGITS = 16


def name_blocks(blocks: Iterable[Block]) -> tuple[str, ...]:
    """A key for each block, in their order; empty for a heading and for the ladder, of which nothing is reported."""
    section, nameless, keys = BEFORE_HEADINGS, Counter[str](), list[str]()
    for block in blocks:
        if isinstance(block, Heading):
            section = block.anchor
        if isinstance(block, Heading | LadderPlace):
            keys.append("")
            continue
        name = block.name if isinstance(block, ExerciseLink) else getattr(block, "id", "")
        if not name:
            nameless[section] += 1
            name = f"{section}~{nameless[section]}"
        keys.append(name)
    return tuple(keys)


def hash_blocks(keys: Iterable[str], blocks: Iterable[Block]) -> dict[str, str]:
    """The hash of each block that has a key."""
    return {key: hash_writing(block) for key, block in zip(keys, blocks, strict=True) if key}


def hash_writing(written: object) -> str:
    """A hash of all that is written in a block or a text, wherever it is in its file."""
    digest = hashlib.sha256()
    for part in _list_writing(written):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()[:HASH_DIGITS]


def _list_writing(value: object) -> Iterator[str]:
    if is_dataclass(value):
        yield type(value).__name__
        value = tuple(getattr(value, field.name) for field in fields(value) if field.name not in NOT_WRITTEN)
    if isinstance(value, Mapping):
        value = tuple(value.items())
    if isinstance(value, tuple):
        yield str(len(value))
        for item in value:
            yield from _list_writing(item)
    elif isinstance(value, str | int | float | Enum | Path | None):
        yield str(value)
    else:
        raise TypeError(f"a block holds a {type(value).__name__}, which has no hash; add its type to _list_writing")
