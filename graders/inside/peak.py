"""Inside the box: one case whose memory the kernel measures.

The inputs are prepared before the learner's file arrives, so that the judge can read a baseline that no learner
code can have influenced.
"""

import gc
import json
from types import ModuleType
from typing import Any

import answers  # type: ignore[import-not-found]

MAX_REPORT_LENGTH = 4096


def run(payload: bytes, incoming: int, outgoing: int) -> None:
    """Payload: JSON {probe}. Then the case arrives; we report when it is prepared, and the learner's file arrives."""
    answers.prepare_streams()
    probe = answers.load_module("probe", json.loads(payload)["probe"])
    case, header, body = read_frame(incoming)
    inputs = answers.prepare(probe, answers.decode_inputs(json.loads(header), body))
    del header, body
    gc.collect()
    answers.write_all(outgoing, answers.HEAD.pack(b"HERE", case, 0, 0))
    _, _, code = read_frame(incoming)
    answer(probe, json.loads(code)["source"], case, inputs, outgoing)


def answer(probe: ModuleType, source: str, case: int, inputs: Any, outgoing: int) -> None:
    """Runs the learner's code, which may change anything here except what the kernel counts."""
    stage = "load"
    try:
        submission = answers.load_submission(source)
        stage = "case"
        frame = answers.answer_with_values(submission, probe.probe, case, inputs)
        report = encode_report(probe, case, inputs)
    except SystemExit:
        return
    except BaseException as error:  # noqa: BLE001 - whatever the learner's file raises is the learner's answer
        answers.send_mistake(error, stage, case, outgoing)
    else:
        answers.write_all(outgoing, report + frame)
    finally:
        answers.flush_streams()


def encode_report(probe: ModuleType, case: int, inputs: Any) -> bytes:
    """The probe's own counts, for information only: learner code could have forged them."""
    if not hasattr(probe, "report"):
        return b""
    said = json.dumps(probe.report(inputs)).encode()[:MAX_REPORT_LENGTH]
    return bytes(answers.HEAD.pack(b"SAID", case, 0, len(said))) + said


def read_frame(incoming: int) -> tuple[int, bytes, bytes]:
    """Case, header and body. Exits if the judge is gone."""
    head = answers.read_exactly(incoming, answers.HEAD.size)
    if len(head) < answers.HEAD.size:
        raise SystemExit
    _, case, header_length, body_length = answers.HEAD.unpack(head)
    return case, answers.read_exactly(incoming, header_length), answers.read_exactly(incoming, body_length)
