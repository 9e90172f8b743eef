"""The register of the kinds of questions. To add a kind, write its module and list its class here. Pure."""

from collections.abc import Mapping
from typing import get_args

from app.course.questions.choice import Choice, Several
from app.course.questions.code_lines import Order, WrongLine
from app.course.questions.graph_click import GraphClick
from app.course.questions.number import Number
from app.course.questions.open import Open
from app.course.questions.text import Text

__all__ = ["KINDS", "Choice", "GraphClick", "Number", "Open", "Order", "Question", "Several", "Text", "WrongLine"]

Question = Choice | Several | Number | Text | Order | GraphClick | WrongLine | Open
"""A closed union: wherever code matches on the kind, mypy requires a branch for a new one."""

KINDS: Mapping[str, type[Question]] = {kind.kind: kind for kind in get_args(Question)}
"""Keyed by the name that an author writes."""
