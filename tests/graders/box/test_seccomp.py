"""The filter decides as it should: the assembled program is run here by a small interpreter of our own."""

import errno
import struct

import pytest

from graders.box.jail import bpf
from graders.box.jail.bpf import Instruction, Label
from graders.box.jail.seccomp import AUDIT_ARCH_X86_64, PLAIN, RULED, build_filter

ALLOW, KILL = 0x7FFF0000, 0x80000000
I386 = 0x40000003
OWN_PID = 1


def refuse(number: int) -> int:
    return 0x00050000 | number


def decide(number: int, *arguments: int, architecture: int = AUDIT_ARCH_X86_64) -> int:
    """What the kernel would answer: classic BPF over struct seccomp_data."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<iIQ6Q", number, architecture, 0, *[value & (1 << 64) - 1 for value in padded])
    code = build_filter(OWN_PID)
    program = [struct.unpack_from("<HBBI", code, at) for at in range(0, len(code), 8)]
    accumulator, at = 0, 0
    while True:
        operation, yes, no, value = program[at]
        at += 1
        match operation:
            case bpf.LOAD_WORD:
                (accumulator,) = struct.unpack_from("<I", data, value)
            case bpf.JUMP_EQUAL:
                at += yes if accumulator == value else no
            case bpf.JUMP_GREATER_OR_EQUAL:
                at += yes if accumulator >= value else no
            case bpf.JUMP_ANY_BIT:
                at += yes if accumulator & value else no
            case bpf.RETURN:
                return value
            case _:
                raise AssertionError(f"instruction {operation:#x}")


def test_calls_of_ordinary_programs_are_allowed() -> None:
    assert {decide(number) for number in PLAIN.values()} == {ALLOW}


@pytest.mark.parametrize(
    "number", [41, 53, 57, 58, 59, 90, 91, 101, 149, 155, 161, 165, 272, 317, 319, 321, 322, 425]
)
def test_what_is_not_listed_is_refused(number: int) -> None:
    assert decide(number) == refuse(errno.EPERM)


def test_other_tables_of_system_calls_are_deadly() -> None:
    assert decide(0, architecture=I386) == KILL
    assert decide(0x40000000 | 39) == KILL


def test_a_thread_may_be_made_and_a_process_may_not() -> None:
    assert decide(56, 0x3D0F00) == ALLOW
    assert decide(56, 17) == refuse(errno.EPERM)
    assert decide(56, 0x3D0F00 | 0x10000000) == refuse(errno.EPERM)
    assert decide(435) == refuse(errno.ENOSYS)


@pytest.mark.parametrize(("flags", "answer"), [(0x22, ALLOW), (0x02, ALLOW), (0x01, ALLOW), (0x4022, ALLOW)])
def test_private_and_file_mappings_are_allowed(flags: int, answer: int) -> None:
    assert decide(9, 0, 4096, 3, flags) == answer


@pytest.mark.parametrize("flags", [0x21, 0x23, 0x122, 0x40022])
def test_mappings_that_escape_the_data_limit_are_refused(flags: int) -> None:
    assert decide(9, 0, 4096, 3, flags) == refuse(errno.EPERM)


def test_only_the_own_process_may_be_signalled() -> None:
    assert decide(62, OWN_PID, 6) == ALLOW
    assert {decide(62, pid, 9) for pid in (-1, 0, 2, 12345)} == {refuse(errno.EPERM)}


def test_limits_may_be_asked_for_and_not_set() -> None:
    assert decide(302, 0, 7, 0, 0x7FFF0000) == ALLOW
    assert decide(302, 0, 7, 0x7FFF0000, 0) == refuse(errno.EPERM)
    assert decide(302, 0, 7, 1 << 40, 0) == refuse(errno.EPERM)


@pytest.mark.parametrize("name", ["getpgid", "getsid", "sched_getparam", "sched_getscheduler", "sched_getaffinity"])
def test_a_process_may_ask_about_itself_alone(name: str) -> None:
    assert {decide(RULED[name], pid) for pid in (0, OWN_PID)} == {ALLOW}
    assert {decide(RULED[name], pid) for pid in (2, -1, 12345)} == {refuse(errno.EPERM)}


def test_priorities_and_limits_of_other_processes_are_not_told() -> None:
    assert {decide(140, 0, 0), decide(302, OWN_PID, 7, 0, 0x7FFF0000)} == {ALLOW}
    assert {decide(140, 0, 2), decide(302, 2, 7, 0, 0x7FFF0000)} == {refuse(errno.EPERM)}


@pytest.mark.parametrize("name", ["clock_gettime", "clock_getres", "clock_nanosleep"])
def test_clocks_of_other_processes_cannot_be_read(name: str) -> None:
    assert {decide(RULED[name], clock) for clock in range(12)} == {ALLOW}
    others = ((~2 << 3) | 2, (~OWN_PID << 3) | 6, 12, 1 << 31)
    assert {decide(RULED[name], clock) for clock in others} == {refuse(errno.EPERM)}


def test_the_page_cache_belongs_to_the_machine() -> None:
    assert {decide(221, 3, 0, 0, advice) for advice in (0, 1, 2, 3, 5)} == {ALLOW}
    assert decide(221, 3, 0, 0, 4) == refuse(errno.EPERM)


def test_a_file_is_truncated_through_its_descriptor_alone() -> None:
    assert (decide(77), decide(76)) == (ALLOW, refuse(errno.EPERM))


def test_nobody_sleeps_on_a_futex_that_others_could_reach() -> None:
    assert {decide(202, 0, operation | 0x80) for operation in (0, 1, 3, 4, 5, 9, 10, 0x109)} == {ALLOW}
    assert {decide(202, 0, wait) for wait in (0, 9, 0x109)} == {refuse(errno.EAGAIN)}
    assert {decide(202, 0, wake) for wake in (1, 10)} == {refuse(0)}
    assert {decide(202, 0, other) for other in (3, 4, 5, 6, 11, 12)} == {refuse(errno.EPERM)}


def test_locks_and_terminal_tricks_are_refused() -> None:
    assert decide(72, 1, 3) == ALLOW
    assert {decide(72, 1, command) for command in (5, 6, 7, 37, 1024, 1025, 1033)} == {refuse(errno.EPERM)}
    assert decide(16, 1, 0x5412) == refuse(errno.EPERM)


def test_a_jump_that_is_too_long_is_an_error() -> None:
    program: bpf.Program = [Instruction(bpf.JUMP_EQUAL, 1, yes="far")]
    program += [Instruction(bpf.RETURN, 0)] * 300
    with pytest.raises(ValueError, match="300 instructions away"):
        bpf.assemble([*program, Label("far"), Instruction(bpf.RETURN, 0)])


def test_a_label_that_is_missing_or_stands_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="no label nowhere"):
        bpf.assemble([Instruction(bpf.JUMP_EQUAL, 1, yes="nowhere")])
    with pytest.raises(ValueError, match="is used twice"):
        bpf.assemble([Label("here"), Label("here")])
