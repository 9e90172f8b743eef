"""A warning names the learner's line, as often as it would without the tracer."""

import warnings

import pytest

torch = pytest.importorskip("torch")

from tracer_parts import run  # noqa: E402

pytestmark = [pytest.mark.torch]

SOURCE = """\
import warnings
import torch
import torch.nn.functional as F
x = torch.ones(3, 3, requires_grad=True)
class Noisy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        warnings.warn("forward", stacklevel=2)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        warnings.warn("backward")
        return g * 2
def copy(t):
    return torch.tensor(t)
for _ in range(2):
    a = F.softmax(x)
    b = F.log_softmax(x)
    c = copy(x); d = torch.tensor(x)
    e = Noisy.apply(x)
    warnings.warn("mine")
(a + b + e).sum().backward()
"""


def list_warnings(source: str, action: str, *, traced: bool) -> list[tuple[str, int, type]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)  # type: ignore[arg-type]
        ran = run(source, traced=traced)
    assert ran.error is None
    return [(item.filename.rpartition("/")[2], item.lineno, item.category) for item in caught]


@pytest.mark.parametrize("action", ["always", "default"])
def test_warnings_are_those_of_a_plain_run(action: str) -> None:
    plain = list_warnings(SOURCE, action, traced=False)
    assert {place for place, _, _ in plain} >= {"cell.py"}
    assert len(plain) > 6
    assert list_warnings(SOURCE, action, traced=True) == plain


def test_a_warning_turned_into_an_error_is_raised_where_the_program_caught_it() -> None:
    source = """\
import warnings
import torch
import torch.nn.functional as F
warnings.simplefilter("error")
try:
    F.softmax(torch.ones(2, requires_grad=True))
    caught = 0.0
except UserWarning:
    caught = 1.0
"""
    with warnings.catch_warnings():
        ran = run(source, traced=True)
    assert ran.error is None
    assert ran.tensors["caught"] == 1.0


def test_the_module_of_warnings_is_left_as_it_was() -> None:
    before = warnings._showwarnmsg  # type: ignore[attr-defined]
    run("import torch\n", traced=True)
    assert warnings._showwarnmsg is before  # type: ignore[attr-defined]
