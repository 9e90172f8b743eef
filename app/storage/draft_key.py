"""Names of drafts: what an editor's text is kept under. Built here alone, and taken apart here alone."""

from typing import NewType

DraftKey = NewType("DraftKey", str)


def exercise_key(exercise: str) -> DraftKey:
    """The answer to an exercise; every other draft of the exercise has a key that starts with this one."""
    return DraftKey(f"exercises/{exercise}")


def diagnosis_key(exercise: str) -> DraftKey:
    """The diagnosis that a bug hunt asks for beside the code."""
    return DraftKey(f"exercises/{exercise}/diagnosis")


def chapter_prefix(chapter: str) -> str:
    """What the keys of a chapter's cells start with."""
    return f"chapters/{chapter}/"


def cell_key(chapter: str, cell: str) -> DraftKey:
    return DraftKey(chapter_prefix(chapter) + cell)
