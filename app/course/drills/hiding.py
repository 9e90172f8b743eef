"""A drill's picture before the answer: the graph, without what the run says about it."""

from graders.contract.trace import Trace


def hide_answers(trace_json: str) -> str:
    """The trace with its operations, values and edges alone: no cuts, no saved bytes, and nothing of backward."""
    trace = Trace.model_validate_json(trace_json)
    count = len(trace.nodes.name)
    hidden = {
        "saved_bytes": (0,) * count,
        "leaf_bytes": (0,) * count,
        "saved": ("",) * count,
        "backward": (-1,) * count,
    }
    shown = Trace(
        torch=trace.torch,
        nodes=trace.nodes.model_copy(update=hidden),
        outputs=trace.outputs,
        edges=trace.edges,
        roots=trace.roots,
    )
    return shown.model_dump_json()
