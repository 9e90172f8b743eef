"""Trains a case's model with the optimizers that the learner made for it.

Parts: ["lookup" or "bag", name, sparse], ["same", name, of], ["layer", name], ["norm", name], ["output", of].
"""

import torch
from torch import nn

ROWS, SIZE = 7, 3
REFUSALS = (
    "none",
    "does not support sparse gradients",
    "does not support dense gradients",
    "weight_decay option is not compatible with sparse",
    "add(sparse, dense)",
)


class Model(nn.Module):
    def __init__(self, parts, nested):
        super().__init__()
        tables, self.output = nn.ModuleDict(), None
        self.tables, self.encoder = (None, nn.ModuleDict({"tables": tables})) if nested else (tables, None)
        self.layers = nn.ModuleDict()
        for kind, name, *rest in parts:
            if kind in ("lookup", "bag", "same"):
                tables[name] = make_table(tables, kind, rest)
            elif kind == "output":
                self.output = nn.Linear(SIZE, ROWS, bias=False)
                self.output.weight = tables[name].weight
            else:
                self.layers[name] = nn.Linear(SIZE, SIZE) if kind == "layer" else nn.LayerNorm(SIZE)

    def forward(self, words):
        hidden = 0.0
        tables = self.encoder["tables"] if self.tables is None else self.tables
        for table, own in zip(tables.values(), words, strict=True):
            hidden = hidden + (table(own) if isinstance(table, nn.EmbeddingBag) else table(own).sum(1))
        for layer in self.layers.values():
            hidden = torch.tanh(layer(hidden))
        return hidden if self.output is None else self.output(hidden)


def make_table(tables, kind, rest):
    if kind == "bag":
        return nn.EmbeddingBag(ROWS, SIZE, mode="sum", sparse=rest[0])
    if kind == "lookup":
        return nn.Embedding(ROWS, SIZE, sparse=rest[0])
    twin = nn.Embedding(ROWS, SIZE, sparse=True)
    twin.weight = tables[rest[0]].weight
    return twin


def probe(submission, case):
    model = Model(case["parts"], case["nested"]).double()
    parameters = list(model.parameters())
    nn.utils.vector_to_parameters(torch.from_numpy(case["start"].copy()), parameters)
    for place in case["frozen"]:
        parameters[place].requires_grad_(False)
    optimizers = read_optimizers(submission.make_optimizers(model, lr=case["lr"], weight_decay=case["weight_decay"]))
    refusal = 0
    for words, goals in zip(torch.from_numpy(case["words"]), torch.from_numpy(case["goals"]), strict=True):
        loss = (model(words) - goals).pow(2).mean()
        for parameter in parameters:
            parameter.grad = None
        loss.backward()
        refusal = refusal or step_all(optimizers)
    return {
        "refusal": refusal,
        "sparse": [p.grad is not None and p.grad.is_sparse for p in parameters],
        "parameters": torch.cat([p.detach().flatten() for p in parameters]),
    }


def read_optimizers(optimizers):
    if not isinstance(optimizers, (list, tuple)):
        raise TypeError(
            f"make_optimizers should return a list; it returned a value of type {type(optimizers).__name__}"
        )
    for optimizer in optimizers:
        if not callable(getattr(optimizer, "step", None)):
            raise TypeError(f"the list should hold optimizers; it holds an entry of type {type(optimizer).__name__}")
    return optimizers


def step_all(optimizers):
    """The place in REFUSALS of the first error, or 0."""
    for optimizer in optimizers:
        try:
            optimizer.step()
        except RuntimeError as error:
            known = [place for place, words in enumerate(REFUSALS) if words in str(error)]
            if not known:
                raise TypeError(f"a step of your optimizers raised a RuntimeError: {error}") from error
            return known[0]
    return 0
