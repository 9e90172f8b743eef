"""Attacks from inside Python and torch: on descriptors, signals, clocks, texts, deep objects, the interpreter itself.

Each runs as a free cell, with and without the tracer. It ends in an ordinary verdict, prints ESCAPED nowhere, says
nothing unclean, and the next run on the same zygote is as if it had never been.
"""

import unicodedata
from pathlib import Path

import pytest
from test_cells import run

from graders.contract.jobs import Flavour
from graders.contract.limits import Limits
from graders.contract.results import Outcome, RunEnd

LIMITS = Limits(cpu_seconds=2.0, wall_seconds=3.0, memory_mib=512, output_kib=16)
OK, ERROR, TIME, CRASH = Outcome.OK, Outcome.RUNTIME_ERROR, Outcome.TIME_LIMIT, Outcome.CRASHED
NOTHING, BREACH, MEMORY, OUTPUT = (
    Outcome.NO_RESULT,
    Outcome.PROTOCOL_ERROR,
    Outcome.MEMORY_LIMIT,
    Outcome.OUTPUT_LIMIT,
)
REPOSITORY = Path(__file__).resolve().parents[3]
ANY_END = {OK, ERROR, TIME, CRASH, NOTHING, BREACH, MEMORY, OUTPUT, Outcome.FORBIDDEN, Outcome.SYNTAX_ERROR}

CLEAN = """
import builtins, codecs, gc, os, signal, sys, threading, warnings, torch
assert not [name for name in ("PWNED", "HELD") if hasattr(builtins, name) or hasattr(torch, name)], "names"
assert sys.gettrace() is None and sys.getprofile() is None or "tracer" in str(sys.gettrace()), "trace"
assert threading.active_count() <= 2, "threads"
assert "LD_PRELOAD" not in os.environ and len(os.environ) <= 6, "environment"
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "signals"
assert int("7") == 7 and len([1]) == 1 and not False and 0 + 0 == 0, "numbers"
assert "\\ud800".encode("ascii", "backslashreplace") == b"\\\\ud800", "codecs"
assert all(type(finder).__module__ != "__main__" for finder in sys.meta_path), "import"
assert torch.get_num_threads() >= 1 and torch.get_default_dtype() is torch.float32, "torch"
try:
    own = {path.split("/")[2] for path in sys.path if path.startswith("/tmp/")}
    assert set(os.listdir("/tmp")) <= own, "files"
except PermissionError:
    pass
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
assert x.grad.tolist() == [2.0, 2.0, 2.0], "gradient"
print("clean")
"""

ATTACKS: dict[str, tuple[set[Outcome], str]] = {
    "puts the report's channel over its own output": (
        {BREACH},
        "import os\nos.dup2(3, 1)\nprint('{\"ok\": true}', flush=True)",
    ),
    "closes the report's channel": ({OK, NOTHING}, "import os\nos.close(3)"),
    "takes every descriptor that there is": (
        {OK},
        """
import os
held = []
try:
    while len(held) < 100_000: held.append(os.dup(3))
    print('ESCAPED descriptors')
except OSError as error: print('BLOCKED', error)
""",
    ),
    "widens the pipes that the judge reads": (
        {OK},
        """
import fcntl
for fd in (0, 1, 2, 3):
    try:
        if fcntl.fcntl(fd, 1031, 1 << 26) > 1 << 20: print('ESCAPED pipe size')
    except OSError as error: print('BLOCKED', error)
""",
    ),
    "has signals sent to everyone when a pipe is ready": (
        {OK},
        """
import fcntl
for owner in (-1, 1, 2, 3, 100):
    for command in (8, 10):
        try: fcntl.fcntl(0, command, owner)
        except OSError as error: print('BLOCKED', error)
try: fcntl.fcntl(0, 4, fcntl.fcntl(0, 3) | 0x2000)
except OSError as error: print('BLOCKED', error)
""",
    ),
    "kills its whole group": (
        {OK, CRASH},
        """
import os, signal
for send in (lambda: os.kill(0, 9), lambda: os.killpg(0, 9), lambda: os.killpg(os.getpgrp(), 9)):
    try: send()
    except OSError as error: print('BLOCKED', error)
""",
    ),
    "queues signals to other processes": (
        {OK},
        """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for number in (129, 297, 424):
    for pid in (2, 3, 10, 100):
        if libc.syscall(number, pid, 9, 0, 0) == 0: print('ESCAPED queue', number, pid)
""",
    ),
    "rings an alarm that nobody catches": (
        {OK, CRASH},
        "import signal, time\nsignal.setitimer(signal.ITIMER_REAL, 0.05)\ntime.sleep(0.2)",
    ),
    "catches every signal and loops": (
        {TIME},
        """
import signal
for number in range(1, 65):
    try: signal.signal(number, lambda *_: None)
    except (OSError, ValueError): pass
while True: pass
""",
    ),
    "interrupts the driver's own thread": (
        {OK, ERROR, CRASH, NOTHING, TIME},
        "import _thread, time\n_thread.interrupt_main()\ntime.sleep(0.1)",
    ),
    "reads the clocks of other processes": (
        {OK},
        """
import os, time
own = {os.getpid()}
for pid in range(2, 3000):
    try: time.clock_gettime((~pid << 3) | 2)
    except OSError: continue
    if not os.path.isdir(f'/proc/{pid}') and pid > 64: print('ESCAPED clock of', pid)
""",
    ),
    "listens to the machine's load": (
        {OK},
        """
import os
try: print('ESCAPED load', os.getloadavg())
except OSError as error: print('BLOCKED', error)
for path in ('/proc/loadavg', '/proc/stat', '/proc/uptime', '/proc/interrupts', '/proc/self/schedstat'):
    try: print('ESCAPED', open(path).read(9))
    except OSError as error: print('BLOCKED', error)
""",
    ),
    "counts with the processor's own counters": (
        {OK},
        """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(128)
print('ESCAPED perf' if libc.syscall(298, buffer, 0, -1, -1, 0) >= 0 else 'BLOCKED')
""",
    ),
    "has an error's name turn the text around": (
        {ERROR},
        "raise type('Passed\\u202e\\u2066\\x1b[2J<script>', (Exception,), {})('\\u202eall\\x07 right\\u200b\\ud800')",
    ),
    "has an error's name of a million letters": ({ERROR}, "raise type('E' * 1_000_000, (Exception,), {})"),
    "has a name that looks like another": ({ERROR}, "def оk():\n    raise ValueError('\\u0430\\u0301' * 9000)\nоk()"),
    "prints every character that there is": (
        {OK, OUTPUT},
        "print(''.join(map(chr, range(0x3000))))\nprint('\\ud800\\udfff\\U000e0001')",
    ),
    "chains a hundred thousand errors": (
        ANY_END - {OK},
        """
error = None
for _ in range(100_000):
    after = ValueError('x'); after.__cause__ = error; error = after
raise error
""",
    ),
    "has an error that is its own cause": ({ERROR}, "e = ValueError('x')\ne.__cause__ = e.__context__ = e\nraise e"),
    "nests groups of errors": (
        ANY_END - {OK},
        "e = ValueError('x')\nfor _ in range(50_000): e = ExceptionGroup('g', [e])\nraise e",
    ),
    "raises an error whose class lies about everything": (
        ANY_END,
        """
class Meta(type):
    __name__ = property(lambda cls: 1 / 0)
    __module__ = property(lambda cls: 1 / 0)
    __qualname__ = property(lambda cls: 1 / 0)
class E(Exception, metaclass=Meta):
    __traceback__ = property(lambda self: 1 / 0)
    __cause__ = property(lambda self: 1 / 0)
    __notes__ = property(lambda self: 1 / 0)
raise E
""",
    ),
    "adds notes without end": (
        {ERROR, MEMORY, TIME},
        "e = ValueError('x')\ne.__notes__ = ['n' * 9999] * 9999\nraise e",
    ),
    "overflows the stack in C": (
        ANY_END - {OK},
        """
import sys
sys.setrecursionlimit(10**9)
class Deep:
    def __repr__(self): return repr(self)
repr(Deep())
""",
    ),
    "overflows the stack of a thread": (
        ANY_END,
        """
import sys, threading
sys.setrecursionlimit(10**9)
def dive(): return [dive()]
thread = threading.Thread(target=dive); thread.start(); thread.join()
""",
    ),
    "frees an object ten million deep": (ANY_END, "x = None\nfor _ in range(3_000_000): x = (x,)\ndel x"),
    "compares objects that hold each other": ({ERROR}, "a, b = [], []\na.append(b); b.append(a)\na == b"),
    "pickles what unpickles into a shell": (
        {OK, ERROR},
        """
import io, os, torch
class Shell:
    def __reduce__(self): return os.system, ('echo ESCAPED',)
box = io.BytesIO(); torch.save(Shell(), box); box.seek(0)
print('BLOCKED', torch.load(box, weights_only=False))
""",
    ),
    "loads a library of operators": (
        {ERROR},
        "import torch\nopen('/tmp/x.so', 'wb').write(b'\\x7fELF')\ntorch.ops.load_library('/tmp/x.so')",
    ),
    "fetches a model": ({ERROR}, "import torch\ntorch.hub.load_state_dict_from_url('http://127.0.0.1:8000/x.pt')"),
    "compiles with a C++ compiler": (
        {OK, ERROR, TIME},
        """
import torch
try:
    torch.compile(lambda x: x.sin() + 1, backend='inductor')(torch.ones(4))
    print('compiled without a process')
except BaseException as error: print('BLOCKED', type(error).__name__)
""",
    ),
    "shares a tensor's memory": (
        {OK},
        """
import torch
try: torch.ones(4).share_memory_(); print('ESCAPED share')
except BaseException as error: print('BLOCKED', type(error).__name__)
""",
    ),
    "maps a file as a tensor": (
        {OK},
        """
import torch
for path in ('/etc/passwd', '/etc/shadow', '/dev/mem'):
    try: torch.from_file(path, size=4, dtype=torch.uint8); print('ESCAPED', path)
    except BaseException as error: print('BLOCKED', type(error).__name__)
""",
    ),
    "looks beyond a tensor's storage": (
        {ERROR, CRASH, MEMORY},
        "import torch\nx = torch.ones(4)\nx.set_(x.untyped_storage(), 0, (1 << 40,), (1,))\nprint(x.sum())",
    ),
    "reads memory that is not there": (
        {CRASH, ERROR},
        "import ctypes, torch\nx = torch.ones(4)\nprint(ctypes.string_at(x.data_ptr() + (1 << 44), 8))",
    ),
    "asks for threads between operations": (
        ANY_END,
        "import torch\ntorch.set_num_interop_threads(4000)\ntorch.jit._fork(lambda: 1)",
    ),
    "changes what torch takes as usual": (
        {OK},
        """
import torch
torch.set_default_dtype(torch.float64); torch.set_grad_enabled(False)
torch.use_deterministic_algorithms(True); torch.autograd.set_detect_anomaly(True)
torch.Tensor.backward = torch.Tensor.sum = None; torch.PWNED = 1
torch.utils.rename_privateuse1_backend('pwned')
""",
    ),
    "registers its own way to load": (
        {OK},
        "import torch\ntorch.serialization.register_package(0, lambda s: 'cpu', lambda s, l: print('ESCAPED'))",
    ),
    "leaves a hook for the next backward": (
        {OK},
        "import torch\ntorch.autograd.graph.saved_tensors_hooks(lambda t: t * 0, lambda t: t).__enter__()",
    ),
    "looks at every object for the judge": (
        {OK},
        """
import gc
names = {str(getattr(thing, '__module__', '')) for thing in gc.get_objects() if callable(thing)}
ours = ('graders.trusted', 'graders.run_job', 'graders.ledger', 'graders.contract', 'app.', 'pydantic', 'sqlalchemy')
print('ESCAPED' if [name for name in names if name.startswith(ours)] else 'BLOCKED')
""",
    ),
    "follows who refers to whom out of its module": (
        {OK},
        """
import gc, sys
seen, todo = set(), [sys.modules['__main__'].__dict__]
while todo and len(seen) < 20_000:
    thing = todo.pop()
    if id(thing) in seen: continue
    seen.add(id(thing))
    if isinstance(thing, str) and 'CANARY-' 'OF-ANOTHER' in thing: print('ESCAPED canary')
    todo += gc.get_referrers(thing)[:50]
""",
    ),
    "traces the driver and changes its report": (
        {OK, ERROR, BREACH},
        """
import sys
def watch(frame, event, argument):
    if frame.f_code.co_name in ('encode_report', 'write_all'):
        frame.f_locals['report'] = {'ok': True}
        sys._getframe(1)
    return watch
sys.settrace(watch); sys.setprofile(lambda *_: None)
frame = sys._getframe()
while frame: frame.f_trace = watch; frame = frame.f_back
1 / 0
""",
    ),
    "has an audit hook refuse everything": (
        ANY_END,
        "import sys\ndef no(*_): raise RuntimeError('no')\nsys.addaudithook(no)\nopen('/dev/null')",
    ),
    "has an audit hook count the driver's calls": (
        {OK},
        "import sys\nsys.addaudithook(lambda name, args: 'trusted' in str(args) and print('ESCAPED', name))",
    ),
    "writes into the interpreter": (
        ANY_END,
        "import ctypes\nctypes.memset(id(int), 0, 200)\nprint(int('7'))",
    ),
    "makes nought one": (ANY_END, "import ctypes\nctypes.memmove(id(0) + 24, b'\\1\\0\\0\\0', 4)\nprint(0 + 0)"),
    "lets go of None": (
        ANY_END,
        "import ctypes\nctypes.c_long.from_address(id(None)).value = 1\ndel [None]\n[None for _ in range(9)]",
    ),
    "changes the locals of the driver's frames": (
        {OK, ERROR, BREACH, NOTHING},
        """
import ctypes, sys
frame = sys._getframe().f_back
while frame:
    for name in list(frame.f_locals): frame.f_locals[name] = None
    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(1))
    frame = frame.f_back
""",
    ),
    "replaces the code of the driver's functions": (
        ANY_END,
        """
import gc, types
def nothing(*_, **__): return b'{"ok": true, "mistake": null, "trace": null}'
for thing in gc.get_objects():
    if isinstance(thing, types.FunctionType) and thing.__module__ in ('cell', 'start', 'mistakes'):
        try: thing.__code__ = nothing.__code__
        except ValueError: pass
1 / 0
""",
    ),
    "comes back to life at the end": (
        {OK},
        """
import atexit, builtins, threading, weakref
class Last:
    def __del__(self): print('ESCAPED end')
builtins.HELD = Last()
atexit.register(print, 'ESCAPED exit')
threading._register_atexit(print, 'ESCAPED threads')
weakref.finalize(builtins.HELD, print, 'ESCAPED finalize')
""",
    ),
    "has the fault handler leave for it": (
        {NOTHING, TIME},
        "import faulthandler, time\nfaulthandler.dump_traceback_later(0.1, exit=True)\ntime.sleep(9)",
    ),
    "has the fault handler tell of a fault": (
        {CRASH},
        "import ctypes, faulthandler\nfaulthandler.enable()\nctypes.string_at(0)",
    ),
    "makes warnings run its code": (
        {OK, ERROR},
        """
import warnings
def show(*_, **__): warnings.warn('again')
warnings.showwarning = show; warnings.simplefilter('always')
warnings.warn('x')
""",
    ),
    "takes the builtins away": (
        ANY_END,
        "import builtins\nfor name in dir(builtins):\n    if name != '__import__': delattr(builtins, name)",
    ),
    "has the builtins lie": (
        ANY_END,
        "import builtins as b\nb.len = b.isinstance = b.type = lambda *_: 1\nb.PWNED = 1\n1 / 0",
    ),
    "takes the modules away": (
        ANY_END,
        "import sys\nfor name in list(sys.modules): sys.modules[name] = None\nimport json",
    ),
    "puts itself into every import": (
        {OK, ERROR},
        """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None): print('sees', name)
sys.meta_path.insert(0, Finder()); sys.path.insert(0, '/tmp')
open('/tmp/sitecustomize.py', 'w').write('print("ESCAPED site")')
import colorsys
""",
    ),
    "closes and replaces the streams": (
        ANY_END,
        """
import sys
sys.stdout.close()
class Stream:
    def write(self, text): self.write(text)
    def flush(self): 1 / 0
sys.stdout = sys.stderr = sys.__stdout__ = Stream()
print('x')
""",
    ),
    "has a codec's errors run its code": (
        {OK, ERROR},
        "import codecs\ncodecs.register_error('backslashreplace', lambda e: ('PWNED', e.end))\nprint('\\ud800')",
    ),
    "leaves an environment for the next": (
        {OK},
        "import os\nos.environ['LD_PRELOAD'] = '/tmp/x.so'\nos.putenv('PYTHONSTARTUP', '/tmp/x.py')",
    ),
    "says that it is done as an event": (
        {OK},
        """
print('x\\n\\nevent: done\\ndata: {"outcome": "passed"}\\n\\nid: 99\\n')
print('\\r\\n\\r\\n:\\u2028event: done\\u2029\\x85\\x0bevent: done')
""",
    ),
    "hangs in a thread that nobody waits for": (
        {OK, TIME},
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()",
    ),
    "has a tensor whose description never ends": (
        ANY_END,
        """
import torch
class T(torch.Tensor):
    def __repr__(self, **_):
        while True: pass
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})
x = torch.ones(3, requires_grad=True).as_subclass(T)
y = (x * 2).sum(); y.backward()
""",
    ),
    "breaks the tracer from within": (
        ANY_END,
        """
import sys
for name in [n for n in sys.modules if n.split('.')[0] == 'tracer']:
    for key in list(vars(sys.modules[name])): setattr(sys.modules[name], key, None)
import torch
x = torch.ones(3, requires_grad=True); (x * 2).sum().backward()
""",
    ),
}

pytestmark = [pytest.mark.box]


def assert_told_cleanly(end: RunEnd) -> None:
    """Nothing that a page shows can move a cursor, turn a text around or stand alone as half a character."""
    texts = [end.stdout, end.stderr, end.trace_refused]
    texts += [end.mistake.type, end.mistake.message, end.mistake.traceback] if end.mistake else []
    texts += [end.finding.short, end.finding.long] if end.finding else []
    for text in texts:
        unclean = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t"}
        assert not unclean, unclean
    if end.mistake:
        assert str(REPOSITORY) not in end.mistake.traceback
        assert "site-packages" not in end.mistake.traceback


@pytest.mark.parametrize("traced", [False, True], ids=["plain", "traced"])
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_the_interpreter_ends_in_order_and_the_next_run_is_clean(slot, name, traced):
    allowed, source = ATTACKS[name]
    end = run(slot, source, want_trace=traced, limits=LIMITS)
    # The tracer looks at what the program touches: it may cost a program's time, never more.
    assert end.outcome in (allowed | {TIME} if traced else allowed), (end.outcome, end.mistake, end.stderr)
    assert "ESCAPED" not in end.stdout + end.stderr
    assert_told_cleanly(end)
    after = run(slot, CLEAN, limits=LIMITS)
    assert (after.outcome, after.stdout, after.stderr) == (OK, "clean\n", ""), after.mistake


def test_what_one_run_knew_no_later_run_finds(slot):
    run(slot, "import builtins\nbuiltins.KEPT = ['CANARY-' + 'OF-ANOTHER'] * 1000", flavour=Flavour.PLAIN)
    seek = """
import ctypes, gc
found = [t for t in gc.get_objects() if isinstance(t, list) and t and t[0] == 'CANARY-' + 'OF-ANOTHER']
print('ESCAPED' if found else 'clean')
"""
    assert run(slot, seek, flavour=Flavour.PLAIN).stdout == "clean\n"


def test_another_allocator_hides_no_memory(slot):
    if not slot.memory_cgroup:
        pytest.skip("this machine gives us no memory cgroup: nobody measures peak memory here")
    source = """
import ctypes
libc = ctypes.CDLL(None)
libc.mallopt(-3, 1 << 30); libc.mallopt(-1, 1 << 30)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
place = libc.malloc(200 << 20); ctypes.memset(place, 1, 200 << 20)
"""
    end = run(slot, source, flavour=Flavour.PLAIN, limits=LIMITS)
    peak = next(measure.value for measure in end.measures if measure.name == "peak memory")
    assert peak >= 200
