"""Answers drawn programs with plain torch: no tracer, no model, no code of ours.

Reads one JSON list of [observation, program] from stdin and prints the list of answers.
"""

import json
import sys

import torch

DEFINITIONS = ("import", "from", "def", "class")


def answer(what, source):
    name, *arguments = what.split()
    return ANSWERS[name](source, *arguments)


def run(source):
    space = {"__name__": "drawn"}
    exec(source, space)
    return space


def leaves(space):
    return {name: value for name, value in space.items() if isinstance(value, torch.Tensor) and value.is_leaf}


def gradient(source, leaf, place="0"):
    return run(source)[leaf].grad.flatten()[int(place)].item()


def leaf_without_gradient(source):
    tracked = {name: leaf for name, leaf in leaves(run(source)).items() if leaf.requires_grad}
    (name,) = (name for name, leaf in tracked.items() if leaf.grad is None)
    return name


def leaves_with_gradient(source):
    return sum(leaf.grad is not None for leaf in leaves(run(source)).values())


def bytes_kept(source):
    """Through the hooks that see whatever an operation saves, each storage once."""
    kept = {}

    def pack(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor  # held, so that no address is used twice
        return tensor

    forward = source.rsplit("\n", 1)[0]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        run(forward)
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


def value(source, name):
    found = run(source)[name]
    return found.item() if isinstance(found, torch.Tensor) else found


def backward_ends(source):
    try:
        run(source)
    except RuntimeError as error:
        return "raises an error" if "modified by an inplace operation" in str(error) else str(error)
    return "returns, without an error"


def cutting_line(source):
    """Statement by statement: the one whose inputs have a history and whose result has none."""
    import ast

    space, guilty = {}, []
    for statement in ast.parse(source).body:
        used = {
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        inputs = [space[name] for name in used if isinstance(space.get(name), torch.Tensor)]
        exec(compile(ast.Module([statement], []), "drawn", "exec"), space)
        made = [
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        results = [space[name] for name in made if isinstance(space.get(name), torch.Tensor)]
        if any(one.requires_grad for one in inputs) and any(not one.requires_grad for one in results):
            guilty.append(range(statement.lineno, statement.end_lineno + 1))
    (lines,) = guilty
    return ", ".join(map(str, lines))


def backward_order(source):
    """Hooks on the results of all operations note when each runs."""
    lines = source.split("\n")
    visited = []
    space = {}
    for line in lines:
        exec(line, space)
        name = line.partition(" = ")[0]
        result = space.get(name)
        if isinstance(result, torch.Tensor) and result.grad_fn is not None:
            result.grad_fn.register_prehook(lambda *_, line=line: visited.append(line))
    return "\n".join(visited)


ANSWERS = {
    "gradient": gradient,
    "leaf-without-gradient": leaf_without_gradient,
    "leaves-with-gradient": leaves_with_gradient,
    "bytes-kept": bytes_kept,
    "value": value,
    "backward-ends": backward_ends,
    "cutting-line": cutting_line,
    "backward-order": backward_order,
}

if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.stdout.write(json.dumps([answer(what, source) for what, source in json.load(sys.stdin)]))
