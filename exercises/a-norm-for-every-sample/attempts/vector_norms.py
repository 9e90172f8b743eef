import torch
from torch.linalg import vector_norm


def sample_norms(x, target, w1, b1, w2, b2):
    def length(gradient, entering):
        longer = torch.nn.functional.pad(entering, (0, 1), value=1.0)
        return vector_norm(gradient, dim=-1) * vector_norm(longer, dim=-1)

    with torch.inference_mode():
        hidden = (x.matmul(w1.t()) + b1).tanh()
        wrong = torch.addmm(b2, hidden, w2.t()).sub(target).mul(2)
        lengths = torch.hypot(length(wrong, hidden), length(wrong.mm(w2).mul(1 - hidden.square()), x))
    return lengths.clone()
