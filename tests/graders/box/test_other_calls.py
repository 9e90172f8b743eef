"""The self-test names every call that the filter lets through and should not: each is let through once, alone."""

import json
import os
import subprocess

import pytest

from graders.box import attempts
from graders.box.interpreter import python_command
from graders.box.jail import seccomp

NEEDS_A_CAPABILITY = {
    "syslog": 103, "setgroups": 116, "vhangup": 153, "pivot_root": 155, "acct": 163, "swapoff": 168, "reboot": 169,
    "sethostname": 170, "setdomainname": 171, "fanotify_init": 300, "move_mount": 429, "fsopen": 430, "fsmount": 432,
    "fspick": 433,
}  # fmt: skip
"""The kernel answers EPERM as the filter does, because it asks for a capability before it reads the arguments. That a
child has none is a part of its state, which the self-test reads."""
VFORK = 58
PROGRAM = """
import json, os, sys
from graders.box import attempts
from graders.box.jail import privileges, seccomp
attempts.ALLOWED = json.loads(sys.argv[1])
found = {}
for number in json.loads(sys.argv[2]):
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            seccomp.PLAIN["let through"] = number
            privileges.give_up_privileges(54321, 54321, os.geteuid() == 0, privileges.find_bounding_set())
            seccomp.install_filter(seccomp.build_filter(os.getpid()))
            try:
                said = attempts.make_every_other_call()
            except PermissionError:
                said = "none"
            os.write(writing, said.encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        found[number] = pipe.read()
    os.waitpid(pid, 0)
print(json.dumps(found))
"""


@pytest.mark.box
def test_each_call_is_noticed_alone_but_those_that_the_kernel_itself_refuses() -> None:
    allowed = sorted({*seccomp.PLAIN.values(), *seccomp.RULED.values()})
    # A vfork from Python corrupts its parent, which notices that.
    passed_over = {*allowed, *attempts.UNFILTERED, VFORK}
    others = sorted(set(range(attempts.LAST_CALL + 1)) - passed_over)
    command = [*python_command(PROGRAM), json.dumps(allowed), json.dumps(others)]
    if os.geteuid() != 0:
        pytest.skip("only root can become a user who is nobody else")

    done = subprocess.run(command, capture_output=True, text=True, check=True)

    found = {int(number): said for number, said in json.loads(done.stdout).items()}
    unnoticed = {number for number, said in found.items() if said != f"let through: {number}"}
    assert len(found) > 300
    assert unnoticed == set(NEEDS_A_CAPABILITY.values())
