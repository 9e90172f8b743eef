"""Compresses a case's gradients, call by call, with one compressor or with two, perhaps with a restart."""

import torch


def probe(submission, case):
    first = submission.TopK(case["k"])
    second = submission.TopK(case["k"]) if "second gradients" in case else None
    state = first.state_dict() if case["restart"] == 0 else None
    sent, other, kept = [], [], []
    for number, gradient in enumerate(read_gradients(case, "gradients")):
        kept.append(call(first, gradient, case, sent))
        if second is not None:
            call(second, read_gradients(case, "second gradients")[number], case, other)
        if number + 1 == case["restart"]:
            state = first.state_dict()
    if case["kept"]:
        sent = kept
    answer = {"sent": torch.stack(sent)}
    if second is not None:
        answer["sent by the second"] = torch.stack(other)
    if case["restart"] is not None:
        answer["sent after the restart"] = torch.stack(go_on(submission, case, state))
    return answer


def read_gradients(case, name):
    array = case[name]
    if case["transposed"]:
        return [torch.from_numpy(one.T.copy()).T for one in array]
    return [torch.from_numpy(array)[number] for number in range(len(array))]


def call(compressor, gradient, case, sent):
    """One call, with a copy of its result added to `sent`. Buffer and result are overwritten if the case says so."""
    buffer = gradient.clone() if case["reused"] else gradient
    found = compressor.compress(buffer)
    if not isinstance(found, torch.Tensor) or found.layout != torch.strided:
        raise TypeError(f"compress should return a dense tensor; it returned a value of type {type(found).__name__}")
    if found.shape != gradient.shape:
        wanted, got = tuple(gradient.shape), tuple(found.shape)
        raise TypeError(
            f"compress should return a tensor of the gradient's shape {wanted}; it returned one of shape {got}"
        )
    sent.append(found.detach().clone())
    if case["reused"]:
        buffer.fill_(17.0)
    if case["spoiled"]:
        with torch.no_grad():
            found.fill_(23.0)
    return found.detach()


def go_on(submission, case, state):
    """Two new compressors take over from a saved state in turn, while the old one has long gone on."""
    sent = []
    for _ in range(2):
        compressor = submission.TopK(case["k"])
        compressor.load_state_dict(state)
        for gradient in read_gradients(case, "gradients")[case["restart"] :]:
            call(compressor, gradient, case, sent)
    return sent
