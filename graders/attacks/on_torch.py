"""What a program may try on torch, and on the tracer that watches it."""

from graders.attacks.ends import ANY_END, CRASH, ERROR, MEMORY, OK, TIME, Attacks

ON_TORCH: Attacks = {
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
