"""Runs a short program on a learner's nodes: what each call returns, how it ends, how many arrays are held.

A program is a list of steps: ["forward", node, kind, *operands], ["backward", node, upstream, retain], ["drop", node]
and ["held"]. Operands and upstreams are indices into the case's `numbers`, rows of three that are repeated to fill
its `shape`.
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
    program.compare()
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
        self.shape = tuple(case["shape"])
        self.size = int(np.prod(self.shape))
        self.nodes = {}
        self.calls = []
        self.results = []
        self.counts = []
        # Where arrays are counted, none may be kept here: the nodes hold the very same ones.
        self.keeps = not any(step[0] == "held" for step in case["steps"])
        self.kept = []
        self.unchanged = True
        self.before = 0

    def make(self, place):
        row = np.tile(np.array(self.numbers[place]), -(-self.size // SHOWN) or 1)
        return row[: self.size].reshape(self.shape)

    def forward(self, name, kind, *places):
        node = self.nodes[name] = getattr(self.submission, kind)()
        given = [self.make(place) for place in places]
        before = [array.copy() for array in given]
        result = node.forward(*given)
        self.note(result, f"{kind}.forward", 1)
        self.keep([*given, result], [*before, np.array(result)])

    def backward(self, name, place, retain):
        node = self.nodes[name]
        wanted = 1 if type(node).__name__ == "Exp" else 2
        given = self.make(place)
        before = given.copy()
        try:
            found = node.backward(given, retain=True) if retain else node.backward(given)
        except Exception as error:
            if isinstance(error, TypeError) and "argument" in str(error):
                raise
            self.end(name_error(error), wanted)
            return
        if found is None or (isinstance(found, tuple) and any(part is None for part in found)):
            self.end("None", wanted)
            return
        self.calls.append(WORD.format("answered"))
        self.note(found, f"{type(node).__name__}.backward", wanted)
        self.keep([given], [before])

    def end(self, word, wanted):
        self.calls.append(WORD.format(word))
        self.results += [0.0] * min(SHOWN, self.size) * wanted

    def drop(self, name):
        del self.nodes[name]

    def held(self):
        gc.collect()
        more = tracemalloc.get_traced_memory()[0] - self.before
        self.counts.append(round(more / (self.size * 8)))

    def note(self, found, name, wanted):
        parts = found if isinstance(found, (tuple, list)) else (found,)
        if len(parts) != wanted:
            raise TypeError(
                f"{name} should return {'one array' if wanted == 1 else 'a pair'}; it returned {len(parts)}"
            )
        for part in parts:
            if not isinstance(part, (np.ndarray, np.generic, float, int)):
                raise TypeError(f"{name} should return arrays; it returned a value of type {type(part).__name__}")
            if np.shape(part) != self.shape:
                raise TypeError(f"{name} should return an array of shape {self.shape}; it returned {np.shape(part)}")
            self.results += [float(number) for number in np.ravel(part)[:SHOWN]]

    def keep(self, arrays, copies):
        """To be compared now, and at the end of the program if nothing is counted in it."""
        pairs = list(zip(arrays, copies, strict=True))
        self.unchanged = self.unchanged and all(np.array_equal(array, was) for array, was in pairs)
        self.kept += pairs if self.keeps else []

    def compare(self):
        self.unchanged = self.unchanged and all(np.array_equal(array, was) for array, was in self.kept)


def name_error(error):
    """A RuntimeError of the learner's own kind counts as one; Python's own subclasses are accidents."""
    if isinstance(error, RuntimeError) and not isinstance(error, (NotImplementedError, RecursionError)):
        return "RuntimeError"
    return type(error).__name__


def walk_many(submission, case):
    """Nodes that all stay alive, each walked once: what they would still hold does not fit into this run's memory."""
    nodes, total = [], 0.0
    for number in range(case["nodes"]):
        node = submission.Exp()
        node.forward(np.full(case["length"], case["numbers"][0][0] + number / 100))
        total += float(np.mean(node.backward(np.full(case["length"], case["numbers"][1][0]))))
        nodes.append(node)
    return total
