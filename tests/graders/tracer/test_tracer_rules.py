"""Each formula that the player shows is run beside the engine, and one that gives other numbers is not shown."""

import pytest

torch = pytest.importorskip("torch")

from tracer_parts import run, trace  # noqa: E402

from app.pictures import read_graph, tape_rows, write_tape  # noqa: E402
from graders.contract.trace_check import build_trace  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

HEAD = """\
import torch
import torch.nn.functional as F
torch.manual_seed(0)
x = (torch.rand(2, 3) + 0.5).requires_grad_()
y = (torch.rand(2, 3) + 0.5).requires_grad_()
v = torch.rand(3, requires_grad=True)
w = torch.rand(4, 3, requires_grad=True)
b = torch.rand(4, requires_grad=True)
c = torch.rand(2, 3, 5, 5, requires_grad=True)
k = torch.rand(4, 3, 3, 3, requires_grad=True)
q = torch.rand(1, 2, 3, 4, requires_grad=True)
s3 = torch.rand(2, 3, 8, requires_grad=True)
"""

EXPRESSIONS = [
    "torch.add(x, y, alpha=2)",
    "torch.sub(x, y, alpha=2)",
    "1 - x",
    "x * y",
    "x / y",
    "x / 2",
    "2 / x",
    'torch.div(x, y, rounding_mode="floor")',
    "x ** 3",
    "x ** y",
    "2 ** x",
    "-x",
    "x.exp()",
    "x.log()",
    "x.sqrt()",
    "x.rsqrt()",
    "x.reciprocal()",
    "x.square()",
    "x.abs()",
    "x.sin()",
    "x.cos()",
    "x.tan()",
    "x.tanh()",
    "x.sigmoid()",
    "x.relu()",
    "F.leaky_relu(x)",
    "F.gelu(x)",
    'F.gelu(x, approximate="tanh")',
    "F.silu(x)",
    "F.elu(x)",
    "F.softplus(x)",
    "F.logsigmoid(x)",
    "x.clamp(0, 1)",
    "x.clamp_min(0.7)",
    "torch.maximum(x, y)",
    "torch.where(x > 1, x, y)",
    "x.sum()",
    "x.sum(0)",
    "x.sum(1, keepdim=True)",
    "x.mean()",
    "x.mean(1)",
    "x.var()",
    "x.var(1, unbiased=False)",
    "x.std()",
    "x.prod()",
    "x.max()",
    "x.max(1)[0]",
    "x.amax(1)",
    "x.norm()",
    "x.norm(1)",
    "torch.linalg.vector_norm(x)",
    "x.logsumexp(1)",
    "x.softmax(1)",
    "x.log_softmax(1)",
    "x.cumsum(1)",
    "x @ w.t()",
    "x @ v",
    "v @ v",
    "torch.bmm(q[0], q[0].transpose(1, 2))",
    "torch.addmm(torch.rand(2, 4, requires_grad=True), x, w.t(), beta=2, alpha=3)",
    "F.linear(x, w, b)",
    "torch.baddbmm(torch.rand(2, 3, 3, requires_grad=True), q[0], q[0].transpose(1, 2))",
    "x.view(3, 2)",
    "x.t().reshape(-1)",
    "x.t()",
    "x.transpose(0, 1)",
    "c.permute(1, 0, 2, 3)",
    "x.unsqueeze(0)",
    "x[:1].squeeze(0)",
    "v.expand(2, 3)",
    "v.repeat(2, 1)",
    "c.flatten(1)",
    "torch.cat([x, y])",
    "torch.stack([x, y])",
    "x.split(1)[0]",
    "x.chunk(2)[0]",
    "x.unbind()[0]",
    "x[0]",
    "x[:, 1:]",
    "x[torch.tensor([0, 1]), torch.tensor([1, 2])]",
    "x.gather(1, torch.tensor([[0], [1]]))",
    "x.scatter(1, torch.tensor([[0], [1]]), y[:, :1])",
    "x.scatter_add(1, torch.tensor([[0], [1]]), y[:, :1])",
    "x.index_select(0, torch.tensor([0]))",
    "x.index_add(0, torch.tensor([0]), y[:1])",
    "x.masked_fill(x > 1, 0.0)",
    "x.masked_select(x > 1)",
    "x.index_put((torch.tensor([0]),), v)",
    "x.clone()",
    "x.double()",
    "F.embedding(torch.tensor([0, 1, 0]), w)",
    "F.pad(x, (1, 1))",
    "x.flip(0)",
    "x.roll(1, 0)",
    "x.tril()",
    "x.triu()",
    "torch.outer(v, v)",
    'torch.einsum("ij,kj->ik", x, w)',
    "F.mse_loss(x, y)",
    'F.mse_loss(x, y, reduction="sum")',
    "F.l1_loss(x, y)",
    "F.huber_loss(x, y)",
    "F.smooth_l1_loss(x, y)",
    "F.nll_loss(x, torch.tensor([0, 1]))",
    'F.nll_loss(x, torch.tensor([0, 1]), weight=torch.rand(3), reduction="sum")',
    "F.cross_entropy(x, torch.tensor([0, 1]))",
    "F.binary_cross_entropy(x.sigmoid(), torch.rand(2, 3))",
    "F.binary_cross_entropy_with_logits(x, torch.rand(2, 3))",
    "F.kl_div(x, torch.rand(2, 3))",
    "F.layer_norm(x, (3,), v, v)",
    "F.batch_norm(c, torch.zeros(3), torch.ones(3), v, v, training=True)",
    "F.batch_norm(c, torch.zeros(3), torch.ones(3), v, v, training=False)",
    "F.group_norm(c, 3, v, v)",
    "F.rms_norm(x, (3,), v)",
    "F.instance_norm(c)",
    "F.conv2d(c, k, b)",
    "F.conv1d(s3, torch.rand(4, 3, 3, requires_grad=True), b, stride=2, padding=1)",
    "F.conv_transpose2d(c, torch.rand(3, 2, 3, 3, requires_grad=True))",
    "F.max_pool2d(c, 2)",
    "F.max_pool1d(s3, 2)",
    "F.avg_pool2d(c, 2)",
    "F.avg_pool1d(s3, 2)",
    "F.adaptive_avg_pool2d(c, 1)",
    "F.adaptive_avg_pool2d(c, 2)",
    "F.adaptive_max_pool2d(c, 2)",
    "F.scaled_dot_product_attention(q, q, q)",
    "F.scaled_dot_product_attention(q, q, q, is_causal=True)",
    "F.dropout(x, 0.5)",
    "torch.nn.LSTM(3, 4)(x[None])[0]",
    "torch.nn.GRU(3, 4)(x[None])[0]",
    "x.prod(1)",
    "x.topk(2)[0]",
    "x.sort()[0]",
    "torch.atan2(x, y)",
    "x.erf()",
    "x.log1p()",
    "x.expm1()",
    "torch.lerp(x, y, 0.3)",
    "torch.minimum(x, y)",
    "x.round()",
    "x.sign()",
    "torch.tensor([1.0, 3.0, 3.0], requires_grad=True).max()",
    "torch.tensor([[1.0, 3.0, 3.0]], requires_grad=True).max(1)[0]",
    "torch.tensor([[1.0, 3.0, 3.0]], requires_grad=True).amin(1)",
    "x**x",
    "x.norm(3)",
    "x.var((0, 1), unbiased=False, keepdim=True)",
    "x.std(1, unbiased=False)",
    "x.mean((0, 1))",
    "x.sum((0, -1), keepdim=True)",
    "F.nll_loss(x, torch.tensor([0, -100]))",
    "F.binary_cross_entropy_with_logits(x, torch.rand(2, 3), pos_weight=torch.rand(3), reduction='sum')",
    "F.embedding(torch.tensor([[0, 1], [0, 2]]), w, padding_idx=0)",
    "F.conv2d(c, torch.rand(6, 1, 2, 2, requires_grad=True), groups=3, stride=2, dilation=2)",
    "F.conv2d(c, k, b, stride=2, padding=1)",
    "F.conv_transpose2d(c, torch.rand(3, 2, 3, 3, requires_grad=True), stride=2, padding=1, output_padding=1)",
    "F.group_norm(torch.rand(2, 6, 4, requires_grad=True), 2)",
    "F.max_pool2d(c, 3, stride=2, padding=1)",
    "F.avg_pool2d(c, 3, stride=2, padding=1)",
    "F.adaptive_avg_pool2d(c, 3)",
    "F.scaled_dot_product_attention(q, q * 2, q * 3, attn_mask=torch.rand(3, 3), scale=0.3)",
    "torch.nn.LSTM(3, 4, bidirectional=True)(x[None])[0]",
    "torch.nn.LSTM(3, 4, batch_first=True)(torch.rand(2, 5, 3, requires_grad=True))[1][0]",
    "x[[0, 0, 1]]",
    "x[:, [0, 2]]",
    "x.index_put((torch.tensor([0, 0]),), torch.ones(2, 3, requires_grad=True), accumulate=True)",
    "x.permute(1, 0)[..., None].squeeze(-1).unsqueeze(0)",
    "torch.complex(x, y) * torch.complex(y, x)",
]
KNOWN_WITHOUT = frozenset({"ComplexBackward0", "DivBackward0"})


def list_formulas(source: str) -> list[tuple[str, str]]:
    """Each node that ran, by its backward name, and the formula that was found to agree."""
    found = trace(source)
    pairs = zip(found.rules.node, found.rules.formula, strict=True)
    return [(found.nodes.name[node], found.formulas[formula]) for node, formula in pairs]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_formula_gives_what_the_engine_sends(expression: str) -> None:
    source = f"{HEAD}out = {expression}\nout.backward(torch.rand(out.shape, dtype=out.dtype))\n"
    formulas = list_formulas(source)
    assert formulas
    assert [name for name, text in formulas if not text and name not in KNOWN_WITHOUT] == []


def test_a_formula_that_the_engine_contradicts_is_not_shown() -> None:
    source = """\
import torch
x = torch.tensor([3 + 4j], requires_grad=True)
x.abs().sum().backward()
"""
    assert dict(list_formulas(source))["AbsBackward0"] == ""
    checked = build_trace(run(source, traced=True).document)
    nodes = write_tape(read_graph(checked, source)).document["nodes"]
    assert "as this operation's own backward computes it" in nodes["formulas"][nodes["formula"][1]]


def test_a_step_has_its_numbers_where_they_are_few() -> None:
    source = """\
import torch
a = torch.tensor(-2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
(a * b).exp().backward()
"""
    checked = build_trace(run(source, traced=True).document)
    told = [row.sentence for row in tape_rows(read_graph(checked, source)) if row.kind == "vjp"]
    assert told[0].endswith("sends 0.002479 to mul (x\u0304 = 1.0 * 0.002479); releases 4 bytes")
    assert "(ā = 0.002479 * 3.0, b\u0304 = 0.002479 * (-2.0))" in told[1]


def test_the_formula_of_a_node_that_was_not_run_beside_is_that_of_all_others_of_its_name() -> None:
    source = """\
import torch
x = torch.ones(2, requires_grad=True)
y = x
for _ in range(1200):
    y = y * 1.0
y.sum().backward()
"""
    formulas = list_formulas(source)
    assert len(formulas) == 1201
    assert len(set(formulas)) == 2
