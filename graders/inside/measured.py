"""Inside the box: one case whose memory the kernel measures.

What everybody needs is made before the learner's file is here at all, so that the judge can read a baseline on which
no line of the learner's has had a say.
"""

import gc
import json
from types import ModuleType
from typing import Any

import graded  # type: ignore[import-not-found]

LONGEST_REPORT = 4096


def run(payload: bytes, incoming: int, outgoing: int) -> None:
    """Payload: JSON {probe}. Then the case comes; when it is prepared we say so, and the learner's file comes."""
    graded.prepare_streams()
    probe = graded.load_module("probe", json.loads(payload)["probe"])
    case, header, body = read_frame(incoming)
    inputs = graded.prepare(probe, graded.decode_inputs(json.loads(header), body))
    del header, body
    gc.collect()
    graded.write_all(outgoing, graded.HEAD.pack(b"HERE", case, 0, 0))
    _, _, code = read_frame(incoming)
    answer(probe, json.loads(code)["source"], case, inputs, outgoing)


def answer(probe: ModuleType, source: str, case: int, inputs: Any, outgoing: int) -> None:
    """From here on the learner's code may have changed anything but what the kernel counts."""
    stage = "load"
    try:
        submission = graded.load_submission(source)
        stage = "case"
        frame = graded.answer_with_values(submission, probe.probe, case, inputs)
        report = encode_report(probe, case, inputs)
    except SystemExit:
        return
    except BaseException as error:  # noqa: BLE001 - whatever the learner's file raises is the learner's answer
        graded.send_mistake(error, stage, case, outgoing)
    else:
        graded.write_all(outgoing, report + frame)
    finally:
        graded.flush_streams()


def encode_report(probe: ModuleType, case: int, inputs: Any) -> bytes:
    """What the probe has counted, for information: a learner's code could have made it say anything."""
    if not hasattr(probe, "report"):
        return b""
    said = json.dumps(probe.report(inputs)).encode()[:LONGEST_REPORT]
    return bytes(graded.HEAD.pack(b"SAID", case, 0, len(said))) + said


def read_frame(incoming: int) -> tuple[int, bytes, bytes]:
    """Case, header and body. Ends the process where nobody writes any more."""
    head = graded.read_exactly(incoming, graded.HEAD.size)
    if len(head) < graded.HEAD.size:
        raise SystemExit
    _, case, header_length, body_length = graded.HEAD.unpack(head)
    return case, graded.read_exactly(incoming, header_length), graded.read_exactly(incoming, body_length)
