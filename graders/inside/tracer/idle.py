"""Finds the leaves that no graph has: unused, frozen, or tracked too late."""

import weakref
from collections.abc import Iterable
from typing import Any

import torch

from .graph import Graph
from .names import iterate_tensors
from .positions import Site

MAX_IDLE = 200


class Tracked:
    """Which tensors the program asked to be tracked while it ran, and where."""

    def __init__(self) -> None:
        self._sites: dict[int, tuple[weakref.ref[Any], Site]] = {}

    def note(self, tensor: Any, site: Site) -> None:
        if len(self._sites) < MAX_IDLE:
            self._sites[id(tensor)] = (weakref.ref(tensor), site)

    def find(self, tensor: Any) -> Site | None:
        known = self._sites.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None


Found = tuple[str, tuple[int, ...], str, Site | None]


def find_idle(scopes: Iterable[dict[str, Any]], module_name: str, graph: Graph, tracked: Tracked) -> list[Found]:
    """Name, shape, reason, and where tracking was asked for, of each; the first name that leads to it counts."""
    found: dict[int, Found] = {}
    for variables in scopes:
        for name, tensor in iterate_tensors(variables, module_name):
            if id(tensor) in found or len(found) >= MAX_IDLE or not tensor.is_leaf or graph.find_leaf(tensor):
                continue
            site = tracked.find(tensor)
            if tensor.requires_grad:
                found[id(tensor)] = (name, tuple(tensor.shape), "late" if site else "unused", site)
            elif isinstance(tensor, torch.nn.Parameter):
                found[id(tensor)] = (name, tuple(tensor.shape), "frozen", None)
    return list(found.values())
