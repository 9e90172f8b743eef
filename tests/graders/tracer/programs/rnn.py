import torch

torch.manual_seed(0)
w_in = (torch.randn(3, 5) / 2).requires_grad_()
w_rec = (torch.randn(5, 5) / 3).requires_grad_()
bias = torch.zeros(5, requires_grad=True)


def unroll(steps):
    state = torch.zeros(2, 5)
    total = 0
    for x in torch.randn(steps, 2, 3):
        state = torch.tanh(x @ w_in + state @ w_rec + bias)
        total = total + (state**2).mean()
    return total


loss = unroll(40)
loss.backward()
