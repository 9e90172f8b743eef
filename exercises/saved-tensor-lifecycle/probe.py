"""Runs a short program on a learner's nodes: what comes out, how each call ends, how many arrays are held.

A program is a list of steps: ["forward", node, kind, *operands], ["backward", node, upstream, retain], ["drop", node]
and ["held"]. Operands and upstreams are places in the case's `numbers`, rows of three that are repeated to `length`.
"""

import gc
import tracemalloc

import numpy as np

WORD = "{:<14.14}"
SHOWN = 3


def probe(submission, case):
    if case["ask"] == "many":
        return {"sum": walk_many(submission, case)}
    program = Program(submission, case)
    tracemalloc.start()
    gc.collect()
    program.before = tracemalloc.get_traced_memory()[0]
    for step, *what in case["steps"]:
        getattr(program, step)(*what)
    tracemalloc.stop()
    return {
        "calls": " ".join(program.calls),
        "results": program.results or [0.0],
        "arrays held": program.counts or [0],
        "arrays of the caller unchanged": program.unchanged,
    }


class Program:
    def __init__(self, submission, case):
        self.submission = submission
        self.numbers = case["numbers"]
        self.length = case["length"]
        self.nodes = {}
        self.calls = []
        self.results = []
        self.counts = []
        self.unchanged = True
        self.before = 0

    def make(self, place):
        return np.tile(np.array(self.numbers[place]), -(-self.length // SHOWN))[: self.length]

    def forward(self, name, kind, *places):
        node = self.nodes[name] = getattr(self.submission, kind)()
        given = [self.make(place) for place in places]
        self.note(node.forward(*given), f"{kind}.forward", 1)
        self.compare(given, places)

    def backward(self, name, place, retain):
        node = self.nodes[name]
        wanted = 1 if type(node).__name__ == "Exp" else 2
        given = [self.make(place)]
        try:
            found = node.backward(given[0], retain=True) if retain else node.backward(given[0])
        except Exception as error:
            if isinstance(error, TypeError) and "argument" in str(error):
                raise
            self.calls.append(WORD.format(type(error).__name__))
            self.results += [0.0] * SHOWN * wanted
            return
        if found is None or (isinstance(found, tuple) and any(part is None for part in found)):
            self.calls.append(WORD.format("None"))
            self.results += [0.0] * SHOWN * wanted
            return
        self.calls.append(WORD.format("answered"))
        self.note(found, f"{type(node).__name__}.backward", wanted)
        self.compare(given, [place])

    def drop(self, name):
        del self.nodes[name]

    def held(self):
        gc.collect()
        more = tracemalloc.get_traced_memory()[0] - self.before
        self.counts.append(round(more / (self.length * 8)))

    def note(self, found, name, wanted):
        parts = found if isinstance(found, (tuple, list)) else (found,)
        if len(parts) != wanted:
            raise TypeError(
                f"{name} should return {'one array' if wanted == 1 else 'a pair'}; it returned {len(parts)}"
            )
        for part in parts:
            if not isinstance(part, (np.ndarray, np.generic, float, int)):
                raise TypeError(f"{name} should return arrays; it returned {type(part).__name__}")
            row = np.broadcast_to(part, (self.length,))[:SHOWN]
            self.results += [float(number) for number in row]

    def compare(self, given, places):
        if any(not np.array_equal(one, self.make(place)) for one, place in zip(given, places, strict=True)):
            self.unchanged = False


def walk_many(submission, case):
    """Nodes that all stay alive, each walked once: what they would still hold does not fit into this run's memory."""
    nodes, total = [], 0.0
    for number in range(case["nodes"]):
        node = submission.Exp()
        node.forward(np.full(case["length"], case["numbers"][0][0] + number / 100))
        total += float(np.mean(node.backward(np.full(case["length"], case["numbers"][1][0]))))
        nodes.append(node)
    return total
