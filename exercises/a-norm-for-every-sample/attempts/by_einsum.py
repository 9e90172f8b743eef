import torch


def sample_norms(x, target, w1, b1, w2, b2):
    w1, b1, w2, b2 = (p.detach() for p in (w1, b1, w2, b2))
    ones = x.new_ones(len(x), 1)
    x = torch.cat([x, ones], 1)
    hidden = torch.tanh(torch.einsum("nf,hf->nh", x, torch.cat([w1, b1[:, None]], 1)))
    into_second = torch.cat([hidden, ones], 1)
    error = torch.einsum("nh,oh->no", into_second, torch.cat([w2, b2[:, None]], 1)) - target
    below = torch.einsum("no,oh,nh->nh", error, w2, 1 - hidden * hidden)
    squares = torch.einsum("no,no,nh,nh->n", error, error, into_second, into_second)
    squares += torch.einsum("nh,nh,nf,nf->n", below, below, x, x)
    return 2 * torch.sqrt(squares)
