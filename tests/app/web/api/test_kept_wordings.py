"""Answers and predictions are kept with the hash of the wording that was answered."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from site_parts import COURSE, FRAGMENT

from app.course.block_tree import blocks_of
from app.course.blocks import Predict
from app.course.loader import load_course
from app.course.model import Course
from app.course.questions.question import QuestionBase

CHAPTER = "/chapters/a-first-graph"
OTHER = "/chapters/a-second-look"
REWORDED = {"How many operations does": "How many operations in all does", "- [rubric] ": "- [rubric] says: "}


def hash_of(course: Course, kind: type[Any], name: str) -> str:
    found = [block for chapter in course.chapters for block in blocks_of(kind, chapter.blocks) if block.id == name]
    assert len(found) == 1
    return str(found[0].content_hash)


@pytest.fixture
def reworded(tmp_path: Path) -> Course:
    root = Path(shutil.copytree(COURSE, tmp_path / "reworded"))
    path = root / "chapters" / "a-first-graph" / "chapter.md"
    text = path.read_text(encoding="utf-8")
    for old, new in REWORDED.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return load_course(root)[0]


async def kept(browser: httpx2.AsyncClient, table: str) -> list[str]:
    exported = (await browser.get("/me/export.json")).json()
    return [row["content_hash"] for row in exported[table]]


async def test_a_prediction_keeps_the_hash_of_its_wording(browser: httpx2.AsyncClient, course: Course) -> None:
    await browser.post(f"{CHAPTER}/predictions/double-use", data={"option": "dont-know"}, headers=FRAGMENT)

    assert await kept(browser, "predictions") == [hash_of(course, Predict, "double-use")]


async def test_an_answer_to_a_draw_keeps_the_hash_of_the_question(
    browser: httpx2.AsyncClient, course: Course
) -> None:
    data = {"number": "8", "draw": "0"}
    await browser.post(f"{OTHER}/answers/after-several-calls", data=data, headers=FRAGMENT)

    assert await kept(browser, "answers") == [hash_of(course, QuestionBase, "after-several-calls")]


async def test_an_answer_keeps_the_hash_of_the_wording_that_was_answered(
    browser: httpx2.AsyncClient, app: FastAPI, course: Course, reworded: Course
) -> None:
    address = f"{CHAPTER}/answers/how-many-nodes"
    await browser.post(address, data={"number": "2"}, headers=FRAGMENT)
    app.state.site = replace(app.state.site, read_course=lambda: reworded)
    await browser.post(address, data={"number": "1"}, headers=FRAGMENT)

    wordings = [hash_of(each, QuestionBase, "how-many-nodes") for each in (course, reworded)]
    assert wordings[0] != wordings[1]
    assert await kept(browser, "answers") == wordings


async def test_ticks_in_a_later_rubric_leave_an_answer_with_the_wording_that_it_was_given_to(
    browser: httpx2.AsyncClient, app: FastAPI, course: Course, reworded: Course
) -> None:
    address = f"{CHAPTER}/answers/say-it"
    await browser.post(address, data={"text": "There are two uses."}, headers=FRAGMENT)
    app.state.site = replace(app.state.site, read_course=lambda: reworded)
    ticked = await browser.post(address, data={"rubric": ["1"]}, headers=FRAGMENT)

    assert "is-rated" in ticked.text
    assert hash_of(reworded, QuestionBase, "say-it") != hash_of(course, QuestionBase, "say-it")
    assert await kept(browser, "answers") == [hash_of(course, QuestionBase, "say-it")]
