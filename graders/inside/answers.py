"""Inside the box: runs an exercise's probe on a learner's file, one case at a time. Nothing it reports is trusted.

Module attributes are looked up at each call, so a learner who replaces one breaks only their own answer. The wire
format is implemented a second time, independently, in graders/trusted/wire.py.
"""

import json
import struct
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from channel import read_exactly, write_all  # type: ignore[import-not-found]
from mistakes import (  # type: ignore[import-not-found]
    compile_source,
    describe_check,
    describe_mistake,
    encode_mistake,
    flush_streams,
    prepare_streams,
)

HEAD = struct.Struct("<4sIII")
FILENAME = "submission.py"
OWN_MODULE = "submission"
SCALARS = {bool: ("bool", "?"), int: ("int", "q"), float: ("float", "d")}

Probe = Callable[[ModuleType, dict[str, Any]], Any]
AnswerOne = Callable[[ModuleType, Probe, int, dict[str, Any]], bytes]
Encoded = tuple[str, tuple[int, ...], bytes]


def run(payload: bytes, incoming: int, outgoing: int) -> None:
    """Payload: JSON {probe, source, inputs}; `inputs` only if they go back, so that the judge can compare them with
    those that it sent. Cases come on `incoming`; answers and mistakes go to `outgoing`."""
    serve(payload, incoming, outgoing, answer_with_values)


def serve(payload: bytes, incoming: int, outgoing: int, answer_one: AnswerOne) -> None:
    request = json.loads(payload)
    untouched = "inputs" in request
    prepare_streams()
    try:
        probe = load_probe(request["probe"])
        submission = load_submission(request["source"])
        answer_cases(submission, probe, incoming, outgoing, returning(answer_one) if untouched else answer_one)
    except SystemExit:
        return
    except BaseException as error:  # noqa: BLE001 - whatever the learner's file raises is the learner's answer
        send_mistake(error, "load", 0, outgoing)
    finally:
        flush_streams()


def load_probe(source: str) -> Probe:
    module = load_module("probe", source)

    def probe(submission: ModuleType, inputs: dict[str, Any]) -> Any:
        return module.probe(submission, prepare(module, inputs))

    return probe


def load_module(name: str, source: str) -> ModuleType:
    module = ModuleType(name)
    exec(compile(source, f"{name}.py", "exec", dont_inherit=True), module.__dict__)
    return module


def prepare(probe: ModuleType, inputs: dict[str, Any]) -> Any:
    """The inputs after the probe's `prepare`, or unchanged if the probe has none."""
    return probe.prepare(inputs) if hasattr(probe, "prepare") else inputs


def load_submission(source: str) -> ModuleType:
    module = ModuleType(OWN_MODULE)
    module.__file__ = FILENAME
    sys.modules[OWN_MODULE] = module
    exec(compile_source(source, FILENAME), module.__dict__)
    return module


def answer_cases(submission: ModuleType, probe: Probe, incoming: int, outgoing: int, answer_one: AnswerOne) -> None:
    """Answers cases until no more arrive, or until answers can no longer be sent."""
    while head := read_exactly(incoming, HEAD.size):
        _, case, header_length, body_length = HEAD.unpack(head)
        header = json.loads(read_exactly(incoming, header_length))
        inputs = decode_inputs(header, read_exactly(incoming, body_length))
        try:
            frame = answer_one(submission, probe, case, inputs)
        except SystemExit:
            return
        except BaseException as error:  # noqa: BLE001 - as above
            send_mistake(error, "case", case, outgoing)
            continue
        flush_streams()
        write_all(outgoing, frame)


def answer_with_values(submission: ModuleType, probe: Probe, case: int, inputs: dict[str, Any]) -> bytes:
    layout, body = encode_answer(probe(submission, inputs))
    return HEAD.pack(b"ANSW", case, len(layout), len(body)) + layout + body


def returning(answer_one: AnswerOne) -> AnswerOne:
    """As `answer_one`, with the inputs as they are after the answer in a frame before it."""

    def answer(submission: ModuleType, probe: Probe, case: int, inputs: dict[str, Any]) -> bytes:
        frame = answer_one(submission, probe, case, inputs)
        return encode_inputs(case, inputs) + frame

    return answer


def encode_inputs(case: int, inputs: dict[str, Any]) -> bytes:
    """The bytes that brought these inputs here, if nothing changed. Empty if they no longer fit into a frame."""
    arrays = {name: value for name, value in inputs.items() if isinstance(value, np.ndarray)}
    plain = {name: value for name, value in inputs.items() if name not in arrays}
    try:
        layout, body = encode_answer(arrays)
        described = {"plain": plain, "arrays": json.loads(layout)}
        header = json.dumps(described, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        header = body = b""
    return HEAD.pack(b"INPT", case, len(header), len(body)) + header + body


def send_mistake(error: BaseException, stage: str, case: int, outgoing: int) -> None:
    own = vars(sys.modules[OWN_MODULE]) if OWN_MODULE in sys.modules else {}
    whose = describe_check(error, own, FILENAME)
    body = encode_mistake({**describe_mistake(error, FILENAME), **whose, "stage": stage})
    flush_streams()
    write_all(outgoing, HEAD.pack(b"FAIL", case, 0, len(body)) + body)


def decode_inputs(header: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Plain data unchanged, and arrays as writable numpy arrays."""
    inputs = dict(header["plain"])
    start = 0
    for name, dtype, shape in header["arrays"]:
        kind = np.dtype(dtype)
        count = int(np.prod(shape)) * kind.itemsize
        inputs[name] = np.frombuffer(body[start : start + count], kind).reshape(shape).copy()
        start += count
    return inputs


def encode_answer(answer: dict[str, Any]) -> tuple[bytes, bytes]:
    """Layout and body. A value without bytes is sent as the name of its type, with an empty body."""
    parts = [(name, *encode_value(value)) for name, value in answer.items()]
    layout = [[name, dtype, list(shape)] for name, dtype, shape, _ in parts]
    return json.dumps(layout, separators=(",", ":")).encode(), b"".join(raw for *_, raw in parts)


def encode_value(value: Any) -> Encoded:
    if isinstance(value, BaseException):
        value = name_exception(value)
    for kind, (name, code) in SCALARS.items():
        if isinstance(value, kind):
            return name, (), struct.pack(f"<{code}", value)
    if isinstance(value, str):
        raw = value.encode("utf-8", "replace")
        return "str", (len(raw),), raw
    if isinstance(value, list):
        return encode_list(value)
    if hasattr(value, "detach"):
        value = value.detach().cpu().contiguous().numpy()
    if hasattr(value, "dtype") and hasattr(value, "tobytes"):
        ordered = value.astype(value.dtype.newbyteorder("<"))
        return str(value.dtype.name), tuple(value.shape), ordered.tobytes()
    return type(value).__name__[:40], (), b""


def unwrap(value: Any) -> Any:
    """An exception's name, a numpy scalar or a tensor with one `bool` as a Python value; any other value as it is."""
    if isinstance(value, BaseException):
        return name_exception(value)
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "detach") and str(value.dtype) == "torch.bool":
        return bool(value) if value.numel() == 1 else value
    return value


def name_exception(error: BaseException) -> str:
    """The name of its class, or, for a class that the learner wrote, of the class that it specialises."""
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ != OWN_MODULE)


def encode_list(values: list[Any]) -> Encoded:
    values = [unwrap(value) for value in values]
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        kinds = {float}
    if kinds == {str}:
        raw = json.dumps(values, separators=(",", ":")).encode()
        return "list[str]", (len(raw),), raw
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind not in SCALARS:
        return "list", (), b""
    name, code = SCALARS[kind]
    return f"list[{name}]", (len(values),), struct.pack(f"<{len(values)}{code}", *values)
