"""What a program may try on the interpreter: objects, frames, hooks, the builtins, the modules."""

from graders.attacks.ends import ANY_END, BREACH, CRASH, ERROR, NOTHING, OK, TIME, Attacks

ON_THE_INTERPRETER: Attacks = {
    "looks at every object for the judge": (
        {OK},
        """
import gc
names = {str(getattr(thing, '__module__', '')) for thing in gc.get_objects() if callable(thing)}
ours = ('graders.trusted', 'graders.judging', 'graders.ledger', 'graders.contract', 'app.', 'pydantic', 'sqlalchemy')
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
    "releases None": (
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
    if isinstance(thing, types.FunctionType) and thing.__module__ in ('cell', 'channel', 'start', 'mistakes'):
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
    "has a codec's errors run its code": (
        {OK, ERROR},
        "import codecs\ncodecs.register_error('backslashreplace', lambda e: ('PWNED', e.end))\nprint('\\ud800')",
    ),
}
