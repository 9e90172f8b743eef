"""A drill's picture before the answer: the graph, without what the run says about it."""

from app.course.drills.observing import reads_variable
from graders.contract.trace import Trace


def hide_answers(trace_json: str, observe: str) -> str:
    """The trace with its operations, values and edges alone: no cuts, no saved bytes, and nothing of backward.

    Where a variable answers the question, the values go too: from those of a training step its number can be read.
    """
    trace = Trace.model_validate_json(trace_json)
    count = len(trace.nodes.name)
    hidden: dict[str, object] = {
        "saved_bytes": (0,) * count,
        "leaf_bytes": (0,) * count,
        "saved": ("",) * count,
        "backward": (-1,) * count,
    }
    outputs = trace.outputs
    if reads_variable(observe):
        hidden["values"] = ("",) * count
        outputs = outputs.model_copy(update={"values": ("",) * len(outputs.node)})
    shown = Trace(
        torch=trace.torch,
        nodes=trace.nodes.model_copy(update=hidden),
        outputs=outputs,
        edges=trace.edges,
        roots=trace.roots,
    )
    return shown.model_dump_json()
