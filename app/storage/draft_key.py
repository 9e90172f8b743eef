"""Draft keys, under which an editor's text is stored. Only this module builds them and takes them apart."""

from typing import NewType

DraftKey = NewType("DraftKey", str)


def exercise_key(exercise: str) -> DraftKey:
    """The key of an exercise's answer; the keys of the exercise's other drafts start with it."""
    return DraftKey(f"exercises/{exercise}")


def diagnosis_key(exercise: str) -> DraftKey:
    """The key of the diagnosis that a bug hunt asks for besides the code."""
    return DraftKey(f"exercises/{exercise}/diagnosis")


def chapter_prefix(chapter: str) -> str:
    """The prefix of the keys of a chapter's cells."""
    return f"chapters/{chapter}/"


def cell_key(chapter: str, cell: str) -> DraftKey:
    return DraftKey(chapter_prefix(chapter) + cell)
