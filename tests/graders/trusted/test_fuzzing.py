"""Whatever a learner's process or an author's folder holds, readers raise their own errors alone, in bounded memory.

Each reader states its cap; examples are few enough for every run, and any seed may be tried with --hypothesis-seed.
"""

import json
import os
import shutil
import socket
import stat
import struct
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judging_parts import FIXTURES, HEAD

from graders.contract.exercise_files import NEEDED_FILES
from graders.contract.manifest import Tolerance
from graders.contract.results import Outcome
from graders.contract.trace_check import TraceRefused, read_trace
from graders.trusted.answers import judge_answer
from graders.trusted.case import CaseFacts
from graders.trusted.exercise import load_exercise
from graders.trusted.faults import ExerciseProblem
from graders.trusted.reference import PreparedCase
from graders.trusted.trace_reader import MAX_DOCUMENT_BYTES, read_report
from graders.trusted.wire import Frame, encode_answer

pytestmark = pytest.mark.slow

MIB = 1 << 20
FEW = settings(max_examples=150, deadline=2000, suppress_health_check=[HealthCheck.too_slow])
FEWER = settings(FEW, max_examples=40)


@contextmanager
def at_most(most_bytes: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes <= most_bytes, f"{peak_bytes / MIB:.1f} MiB"


class Ended(Exception):
    """The scripted channel holds no more bytes."""


EXPECTED = encode_answer({"g": np.ones((3, 2), np.float32), "n": 3, "l": [1.0, 2.0], "s": "abc", "t": ["a", "b"]})
CASE = PreparedCase(
    CaseFacts(name="one", idea="it", finding="off", public=True), Frame(b"{}", b""), EXPECTED
)  # fmt: skip
SIZE = st.integers(0, 300) | st.sampled_from([1 << 16, 1 << 20, (1 << 20) + 1, (1 << 32) - 1])
DTYPE = st.sampled_from(
    ["float32", "float64", "int", "bool", "list[float]", "str", "list[str]", "object", "NoneType"]
)
SHAPE = st.lists(st.integers(-2, 1 << 40), max_size=5)
LAYOUT = st.lists(st.tuples(st.sampled_from("gnlst") | st.text(max_size=3), DTYPE | st.text(max_size=5), SHAPE))
HEADER = (
    st.binary(max_size=200)
    | st.just(EXPECTED.header)
    | LAYOUT.map(lambda layout: json.dumps(layout, separators=(",", ":")).encode())
)
KIND = st.sampled_from([b"ANSW", b"FAIL", b"CASE"]) | st.binary(min_size=4, max_size=4)
FRAME = st.builds(
    lambda kind, case, header, said, body: HEAD.pack(kind, case, len(header), said or len(body)) + header + body,
    KIND,
    st.integers(0, 1),
    HEADER,
    st.none() | SIZE,
    st.binary(max_size=300) | st.just(EXPECTED.body),
)


@FEW
@given(st.lists(FRAME | st.binary(max_size=40), max_size=3).map(b"".join))
def test_the_frame_reader_rules_or_waits_for_more_and_holds_two_mebibytes(data):
    left = memoryview(data)

    def receive(count: int) -> bytes:
        nonlocal left
        if count > len(left):
            raise Ended
        piece, left = left[:count], left[count:]
        return bytes(piece)

    with at_most(2 * MIB):
        try:
            ruling = judge_answer(0, CASE, Tolerance(), receive)
        except Ended:
            return
    right = HEAD.pack(b"ANSW", 0, len(EXPECTED.header), len(EXPECTED.body)) + EXPECTED.header + EXPECTED.body
    assert ruling.outcome is not Outcome.PASSED or data.startswith(right)


@FEW
@given(st.integers(0, len(EXPECTED.body) * 8 - 1))
def test_one_turned_bit_of_an_answer_is_seen_unless_it_is_within_the_tolerance(bit):
    body = bytearray(EXPECTED.body)
    body[bit // 8] ^= 1 << bit % 8
    data = HEAD.pack(b"ANSW", 0, len(EXPECTED.header), len(body)) + EXPECTED.header + bytes(body)
    channel = iter(np.split(np.frombuffer(data, np.uint8), [16, 16 + len(EXPECTED.header)]))
    ruling = judge_answer(0, CASE, Tolerance(absolute=0, relative=0), lambda count: next(channel).tobytes())
    assert ruling.outcome in (Outcome.WRONG_ANSWER, Outcome.NOT_FINITE)


TEXT = st.text(max_size=8) | st.sampled_from(["\u202e", "\x00", "é" * 300, "x" * 201, "<script>"])
NUMBER = st.integers(-(2**70), 2**70) | st.floats() | st.sampled_from([2**53, 2**53 + 1, -1, 0])
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["nodes", "edges", "cuts", "events", "regions", "roots", "name", "kind", "source", "target"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=30,
)
REPORT = st.fixed_dictionaries(
    {"ok": st.booleans() | NUMBER},
    optional={"mistake": VALUE, "trace": VALUE, "trace_refused": VALUE, "unreadable": VALUE},
)


@FEW
@given(st.binary(max_size=500) | REPORT.map(lambda told: json.dumps(told).encode("utf-8", "surrogatepass")))
def test_the_report_reader_takes_or_leaves_and_holds_four_mebibytes(raw):
    with at_most(4 * MIB):
        read_report(raw)


@FEW
@given(st.binary(max_size=500) | VALUE.map(lambda told: json.dumps(told).encode("utf-8", "surrogatepass")))
def test_the_reader_of_traces_takes_or_refuses_and_holds_four_mebibytes(raw):
    with at_most(4 * MIB):
        try:
            read_trace(raw)
        except TraceRefused:
            return


def repeat(piece: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    """As long as a document may be."""
    return before + piece * ((MAX_DOCUMENT_BYTES - len(before) - len(after)) // len(piece)) + after


BOMBS = {
    "brackets": repeat(b"["),
    "braces": repeat(b'{"a":'),
    "empty lists": repeat(b"[],", b'{"ok":true,"trace":{"nodes":{"name":[', b"[]]}}}"),
    "empty objects": repeat(b"{},", b'{"ok":true,"trace":{"nodes":[', b"{}]}}"),
    "noughts": repeat(b"0,", b'{"ok":true,"trace":{"roots":[', b"0]}}"),
    "edges": repeat(b"0,", b'{"ok":true,"trace":{"edges":{"source":[', b"0]}}}"),
    "shapes": repeat(b"[1],", b'{"ok":true,"trace":{"nodes":{"shape":[', b"[1]]}}}"),
    "texts": repeat(b'"",', b'{"ok":true,"trace":{"nodes":{"name":[', b'""]}}}'),
    "names": b'{"ok":true,"trace":{' + b",".join(b'"%d":1' % n for n in range(90_000)) + b"}}",
    "escapes": repeat(b"\\u202e", b'{"ok":true,"trace_refused":"', b'"}'),
    "a mistake": repeat(b"\\ud800", b'{"ok":false,"mistake":{"message":"', b'"}}'),
    "digits": repeat(b"9", b'{"ok":', b"}"),
    "floats": repeat(b"1e-9,", b'{"ok":true,"trace":{"events":{"norm":[', b"1]}}}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_the_largest_document_that_is_read_holds_no_more_than_forty_times_its_bytes(bomb):
    assert len(BOMBS[bomb]) <= MAX_DOCUMENT_BYTES
    with at_most(40 * MAX_DOCUMENT_BYTES):
        read_report(BOMBS[bomb])
    with at_most(40 * MAX_DOCUMENT_BYTES):
        try:
            read_trace(BOMBS[bomb])
        except TraceRefused:
            return


def make_socket(path: Path) -> None:
    here = Path.cwd()
    with socket.socket(socket.AF_UNIX) as made:
        os.chdir(path.parent)  # a socket's path is short
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def make_device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root can make the device that never ends")


STRANGE: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a socket": make_socket,
    "a device": make_device,
    "a folder": Path.mkdir,
    "a link": lambda path: path.symlink_to("/etc/passwd"),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to endless noughts": lambda path: path.symlink_to("/dev/zero"),
}
FILES = NEEDED_FILES


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("file", FILES)
def test_what_lies_in_a_files_place_is_refused_and_not_waited_for(tmp_path, file, strange):
    folder = Path(shutil.copytree(FIXTURES / "scaling", tmp_path / "scaling"))
    (folder / file).unlink()
    STRANGE[strange](folder / file)
    with pytest.raises(ExerciseProblem) as problem:
        load_exercise(tmp_path, "scaling")
    assert "root:" not in str(problem.value)


def test_a_hard_link_is_a_file_like_any_other(tmp_path):
    """Nothing tells it from a plain file but its count; the folder's author could as well have copied the text."""
    folder = Path(shutil.copytree(FIXTURES / "scaling", tmp_path / "scaling"))
    os.link(folder / "cases.py", tmp_path / "other")
    assert load_exercise(tmp_path, "scaling").manifest.title == "Scale some numbers"


def test_an_exercises_folder_of_any_bytes_is_a_problem_or_an_exercise(tmp_path):
    folder = Path(shutil.copytree(FIXTURES / "scaling", tmp_path / "scaling"))
    whole = {file: (folder / file).read_bytes() for file in FILES}

    @FEWER
    @given(
        st.sampled_from(FILES), st.integers(0, 2000), st.binary(max_size=60) | TEXT.map(lambda t: t.encode("utf-8"))
    )
    def load(file, at, extra):
        (folder / file).write_bytes(whole[file][:at] + extra + whole[file][at:])
        try:
            load_exercise(tmp_path, "scaling")
        except ExerciseProblem:
            pass
        finally:
            (folder / file).write_bytes(whole[file])

    with at_most(16 * MIB):
        load()


@FEW
@given(st.text(max_size=100))
def test_any_name_is_no_way_out_of_the_exercises(name):
    try:
        found = load_exercise(FIXTURES, name)
    except ExerciseProblem:
        return
    assert found.path.parent == FIXTURES


def test_a_struct_of_the_frames_is_what_the_readers_think_it_is():
    assert HEAD.size == struct.calcsize("<4sIII") == 16
