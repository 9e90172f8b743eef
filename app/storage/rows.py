"""The rows of a learner's work as records, and an answer's response as JSON."""

import json
from typing import Any

from sqlalchemy import Row

from app.course.questions.marking import QuestionResponse
from app.storage.records import Answer, Prediction, Reading
from app.storage.statements import moment, optional_moment


def read_prediction(row: Row[Any]) -> Prediction:
    resolved_at = optional_moment(row.resolved_at)
    written = (row.content_hash, row.course_version)
    return Prediction(row.predict, row.option, row.confidence, moment(row.committed_at), resolved_at, *written)


def read_answer(row: Row[Any]) -> Answer:
    ticked = None if row.ticked is None else tuple(json.loads(row.ticked))
    response, answered_at = _load_response(row.response), moment(row.answered_at)
    return Answer(
        row.question,
        response,
        row.correct,
        answered_at,
        ticked,
        row.content_hash,
        row.confidence,
        row.rating,
        row.in_review,
        row.course_version,
    )


def read_reading(row: Row[Any]) -> Reading:
    finished_at = optional_moment(row.finished_at)
    return Reading(row.anchor, moment(row.seen_at), finished_at)


def dump_response(response: QuestionResponse) -> str:
    drawn = {} if response.draw is None else {"draw": response.draw}
    return json.dumps({"values": response.values, "text": response.text, "node_names": response.node_names, **drawn})


def _load_response(text: str) -> QuestionResponse:
    kept = json.loads(text)
    return QuestionResponse(tuple(kept["values"]), kept["text"], tuple(kept["node_names"]), kept.get("draw"))
