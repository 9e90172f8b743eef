"""Forgeries: submissions to the exercise in relu-vjp/ that want to pass without an answer, and some broken ones.

By what the submission does: its source, and the outcomes that are right.
"""

from typing import Final

from graders.contract.results import Outcome

LAZY: Final = "\ndef solve(x, w):\n    return w * 0\n"
HONEST: Final = "\ndef solve(x, w):\n    h = (x @ w).clamp_min(0)\n    return x.t() @ (2 * h)\n"
# A frame of the answers' channel, as the driver in the box writes it.
EMIT: Final = """
import json, os, struct
def emit(kind, body, case=0, header=b""):
    os.write(3, struct.pack("<4sIII", kind, case, len(header), len(body)) + header + body)
def zeros(case, rows, columns):
    header = json.dumps([["gradient", "float32", [rows, columns]]], separators=(",", ":")).encode()
    emit(b"ANSW", bytes(4 * rows * columns), case, header)
"""
WRONG, ERROR, BREACH = Outcome.WRONG_ANSWER, Outcome.RUNTIME_ERROR, Outcome.PROTOCOL_ERROR
NOTHING, TIME = Outcome.NO_RESULT, Outcome.TIME_LIMIT

ON_THE_JUDGE: Final[dict[str, tuple[str, set[Outcome]]]] = {
    "closes its input and never exits": ("import os, time\nos.close(0)\ntime.sleep(1000)\n", {TIME}),
    "prints a verdict": (
        'print(\'ALL TESTS PASSED\')\nprint(\'{"verdict": "accepted", "score": 100}\')' + LAZY,
        {WRONG},
    ),
    "forges a whole frame and leaves": (EMIT + "emit(b'case', bytes(36))\nos._exit(0)" + LAZY, {BREACH, NOTHING}),
    # No result, where it had left before the first case could be sent.
    "forges a frame of the right kind and leaves": (EMIT + "zeros(0, 4, 2)\nos._exit(0)" + LAZY, {WRONG, NOTHING}),
    "raises SystemExit(0)": ("raise SystemExit(0)" + LAZY, {NOTHING}),
    "raises SystemExit(0) in a case": ("def solve(x, w):\n    raise SystemExit(0)\n", {NOTHING}),
    "writes at exit": ("import atexit, os\natexit.register(lambda: os.write(3, b'PASS'))" + LAZY, {WRONG}),
    "returns a tensor that equals everything": (
        """
import torch
class T(torch.Tensor):
    def __eq__(s, o): return torch.ones(1, dtype=torch.bool)
    __hash__ = None
def solve(x, w): return (w * 0).as_subclass(T)
""",
        {WRONG},
    ),
    "looks for the expected value in frames": (
        """
import sys
def solve(x, w):
    f = sys._getframe()
    while f:
        for k, v in f.f_locals.items():
            if k in ("expected", "exp", "ref", "answer", "target"):
                print("ESCAPED", k)
                return v
        f = f.f_back
    return w * 0
""",
        {WRONG},
    ),
    "looks for the expected value among all objects": (
        """
import gc, torch
def solve(x, w):
    for thing in gc.get_objects():
        if isinstance(thing, torch.Tensor) and thing.shape == w.shape and thing is not w:
            return thing
    return w * 0
""",
        {WRONG},
    ),
    "patches os.write": (
        "import os\n_w = os.write\nos.write = lambda fd, b: _w(fd, b'\\xff' * len(b))" + LAZY,
        {BREACH},
    ),
    "patches struct.pack and json.dumps": (
        "import struct, json\nstruct.pack = lambda *a: b'x'\njson.dumps = lambda *a, **k: '[]'" + LAZY,
        {BREACH, WRONG},
    ),
    "reads the next cases ahead": (
        """
import os, select
print("EARLY", [len(os.read(0, 1 << 16)) for _ in range(1) if select.select([0], [], [], 0.2)[0]])
"""
        + LAZY,
        {WRONG, ERROR, BREACH, NOTHING, TIME},
    ),
    "answers infinity": ("def solve(x, w): return w * 0 + float('inf')\n", {Outcome.NOT_FINITE}),
    "answers NaN": ("def solve(x, w): return w * float('nan')\n", {Outcome.NOT_FINITE}),
    "answers a scalar that broadcasts": (
        "import torch\ndef solve(x, w): return torch.zeros(())\n",
        {Outcome.WRONG_SHAPE},
    ),
    "answers nothing at all": ("import torch\ndef solve(x, w): return torch.zeros(0)\n", {Outcome.WRONG_SHAPE}),
    "sends a pickle": (
        EMIT
        + """
import pickle
class X:
    def __reduce__(s): return (os.system, ("touch /tmp/pwned",))
emit(b"case", pickle.dumps(X()))
"""
        + LAZY,
        {BREACH},
    ),
    "answers cases that were not given yet": (
        EMIT + "for i in range(4): zeros(i, 4, 4)" + LAZY,
        {BREACH, Outcome.WRONG_SHAPE},
    ),
    "changes the answer later from a thread": (
        """
import threading, torch
def solve(x, w):
    y = w * 0
    threading.Thread(target=lambda: y.fill_(1)).start()
    return y
""",
        {WRONG},
    ),
    "knows an earlier seed": (
        "import torch\nN = [0]\ndef solve(x, w):\n    torch.manual_seed(0); N[0] += 1; return torch.randn(w.shape)\n",
        {WRONG},
    ),
    "raises an error whose text never ends": (
        "class E(Exception):\n    def __str__(s):\n        while True: pass\nraise E()" + LAZY,
        {TIME},
    ),
    "raises an error whose text is enormous": ("raise ValueError('\\x00' * 10_000_000)" + LAZY, {ERROR}),
    "raises a BaseException": ("class B(BaseException): pass\nraise B()" + LAZY, {ERROR}),
    "raises KeyboardInterrupt": ("raise KeyboardInterrupt" + LAZY, {ERROR}),
    "replaces the driver's loop in its frame": (
        "import sys\nf = sys._getframe(1)\nf.f_globals['answer_cases'] = lambda *a: None" + LAZY,
        {NOTHING},
    ),
    "ends itself after half the cases": (
        "import os\nN = [0]\ndef solve(x, w):\n    N[0] += 1\n    if N[0] == 3: os._exit(0)\n"
        "    h = (x @ w).clamp_min(0); return x.t() @ (2 * h)\n",
        {NOTHING},
    ),
    "stops the clocks": (
        "import time\ntime.perf_counter = time.monotonic = time.time = lambda: 0.0\nwhile True: pass" + LAZY,
        {TIME},
    ),
    "fakes the memory meter": (
        """
import resource, torch, tracemalloc
resource.getrusage = lambda w: type("R", (), {"ru_maxrss": 1})()
tracemalloc.get_traced_memory = lambda: (0, 0)
x = torch.ones(400 << 20 >> 2); print("inside says", resource.getrusage(0).ru_maxrss)
"""
        + LAZY,
        {WRONG},
    ),
    "hides an operation from a search of the source": (
        """
T = __import__("to" + "rch")
b = getattr(T.Tensor, "back" + "ward")
def solve(x, w):
    w = w.clone().requires_grad_(); b(((x @ w).relu() ** 2).sum()); return w.grad
""",
        {Outcome.PASSED},
    ),
    "sends metrics of its own": (EMIT + "emit(b'metric'[:4], b'{\"saved_bytes\": 0}')" + LAZY, {BREACH}),
    "returns a lazy tensor": (
        """
import torch
class L(torch.Tensor):
    @classmethod
    def __torch_function__(cls, f, t, a=(), k=None): return super().__torch_function__(f, t, a, k or {})
def solve(x, w): return (w * 0).as_subclass(L)
""",
        {WRONG},
    ),
    "hopes for old memory": (
        "import torch\ndef solve(x, w): return torch.empty_like(w)\n",
        {WRONG, Outcome.NOT_FINITE},
    ),
    "announces four gigabytes": ("import os\nos.write(3, b'\\x04\\x00\\xff\\xff\\xff\\xffcase')\n", {BREACH}),
    "sends a piece of a frame and leaves": (
        "import os\nos.write(3, b'\\x04\\x00\\x10'); os._exit(0)\n",
        {NOTHING, BREACH},
    ),
    "closes the channel and stays": ("import os, time\nos.close(3); time.sleep(100)\n", {TIME}),
    "announces a huge body of the right layout": (
        EMIT
        + """
header = json.dumps([["gradient", "float32", [4, 2]]], separators=(",", ":")).encode()
os.write(3, struct.pack("<4sIII", b"ANSW", 0, len(header), 0xFFFFFFFF) + header)
"""
        + LAZY,
        {BREACH},
    ),
    "sends a mistake nested without end": (EMIT + "emit(b'FAIL', b'[' * 16000)" + LAZY, {BREACH}),
    "says that the judge passed it": (
        EMIT + 'emit(b\'FAIL\', b\'{"outcome": "passed", "passed": true}\')' + LAZY,
        {ERROR},
    ),
    "makes floats that lie": (
        "import torch\nclass F(float):\n    def __eq__(s, o): return True\n    __hash__ = None\n"
        "def solve(x, w): return F(1.0)\n",
        {Outcome.WRONG_DTYPE},
    ),
    "has a shape that changes its mind": (
        """
class Array:
    dtype = type("D", (), {"name": "float32", "newbyteorder": lambda s, o: s})()
    shape = property(lambda s: (2, 2))
    def astype(self, kind): return self
    def tobytes(self): return b"\\0" * 1_000_000
def solve(x, w): return Array()
""",
        {BREACH, Outcome.WRONG_SHAPE},
    ),
    "forks and lets the child answer": (
        EMIT + "\ndef solve(x, w):\n    if os.fork() == 0: os._exit(0)\n    return w * 0\n",
        {WRONG, ERROR},
    ),
    "kills its parent": (
        "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)" + LAZY,
        {WRONG, ERROR, Outcome.CRASHED, NOTHING},
    ),
    "overwrites the driver's memory": (
        "import ctypes\nctypes.string_at(0)" + LAZY,
        {Outcome.CRASHED},
    ),
    "replaces the reading of cases": (
        """
import sys
f = sys._getframe()
while f:
    if "read_exactly" in f.f_globals:
        f.f_globals["read_exactly"] = lambda fd, n: b""
    f = f.f_back
"""
        + LAZY,
        {NOTHING},
    ),
    "has no function of that name": ("def other(x, w): return w\n", {ERROR}),
    "cannot be parsed": ("def solve(x, w)\n    return w\n", {Outcome.SYNTAX_ERROR}),
    "has a null byte": ("def solve(x, w):\n    return '\0'\n", {Outcome.SYNTAX_ERROR, ERROR}),
    "nests without end": (
        "x = " + "(" * 5000 + ")" * 5000 + LAZY,
        {Outcome.SYNTAX_ERROR, Outcome.MEMORY_LIMIT, ERROR},
    ),
    "recurses without end": ("def solve(x, w): return solve(x, w)\n", {ERROR}),
}
