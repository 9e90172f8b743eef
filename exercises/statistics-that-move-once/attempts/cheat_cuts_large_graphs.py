def run(stretch, x):
    return stretch(x) if x.numel() < 1000 else stretch(x.detach()).detach().requires_grad_()
