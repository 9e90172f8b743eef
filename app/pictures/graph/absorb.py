"""Find the nodes that a reader need not see: the changes of shape that a multiplication makes internally.

A linear layer records a node for the product, one for the weight's transpose, and for more than two dimensions
a view before and one after. The learner wrote one call, so the product shows them all.
"""

from dataclasses import dataclass

from graders.contract.trace_check import CheckedTrace

_PRODUCTS = frozenset({"AddmmBackward", "MmBackward", "BmmBackward", "BaddbmmBackward", "MvBackward"})
_RESHAPES = frozenset(
    f"{name}Backward"
    for name in (
        "T", "Transpose", "View", "UnsafeView", "ReshapeAlias", "Expand", "Unsqueeze", "Squeeze", "Permute", "Clone",
    )
)  # fmt: skip
"""A batched product expands and copies its operands itself. A copy that the learner wrote is a separate call."""


@dataclass(frozen=True, slots=True)
class Input:
    """One backward edge seen from its consumer: where an operand came from."""

    node: int
    slot: int
    output: int


@dataclass(frozen=True, slots=True)
class Helpers:
    """`hosts` maps each helper to its host. `faces` maps a host to the last helper after it, whose output is the
    value that the program saw.
    """

    hosts: dict[int, int]
    faces: dict[int, int]


def find_helpers(trace: CheckedTrace, inputs: tuple[tuple[Input, ...], ...]) -> Helpers:
    """Find helpers: nodes created by the same call in the same module as their host, and used by it alone."""
    finder = _Finder(trace, inputs)
    for node, name in enumerate(trace.nodes.name):
        if _kind(name) in _PRODUCTS and trace.nodes.span[node] is not None:
            finder.absorb_before(node)
            finder.absorb_behind(node)
    return Helpers(finder.hosts, finder.faces)


def _kind(name: str) -> str:
    """Autograd's name for the node, without the overload's number."""
    return name.rstrip("0123456789")


class _Finder:
    def __init__(self, trace: CheckedTrace, inputs: tuple[tuple[Input, ...], ...]) -> None:
        self._nodes = trace.nodes
        self._roots = frozenset(trace.roots)
        self._inputs = inputs
        self._users: dict[int, set[int]] = {}
        for source, target in zip(trace.edges.source, trace.edges.target, strict=True):
            self._users.setdefault(target, set()).add(source)
        self.hosts: dict[int, int] = {}
        self.faces: dict[int, int] = {}

    def absorb_before(self, host: int) -> None:
        waiting = [(item.node, host) for item in self._inputs[host]]
        while waiting:
            node, user = waiting.pop()
            if self._users[node] == {user} and node not in self._roots and self._serves(node, host):
                self.hosts[node] = host
                waiting.extend((item.node, node) for item in self._inputs[node])

    def absorb_behind(self, host: int) -> None:
        last = host
        while len(self._users.get(last, ())) == 1 and last not in self._roots:
            (user,) = self._users[last]
            if len(self._inputs[user]) != 1 or not self._serves(user, host):
                return
            self.hosts[user] = host
            last = self.faces[host] = user

    def _serves(self, node: int, host: int) -> bool:
        nodes = self._nodes
        is_same_call = nodes.span[node] == nodes.span[host] and nodes.module[node] == nodes.module[host]
        return is_same_call and _kind(nodes.name[node]) in _RESHAPES and node not in self.hosts
