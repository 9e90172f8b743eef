"""Backward through time of one LSTM layer, step by step, from the values that its node saved."""

from typing import Any

import torch


def unwind_lstm(gradients: Any, given: Any, reverse: bool) -> tuple[Any, ...]:
    """The gradients of the input, the two weights, the two biases, and the first hidden and cell state."""
    x, w, u, b, _, h, c = given
    order = list(range(x.shape[0]))[:: -1 if reverse else 1]
    kept = _run_forward(given, order)
    h_bar = torch.zeros_like(h.reshape(h.shape[-2:])) if gradients[1] is None else gradients[1].reshape(h.shape[-2:])
    c_bar = torch.zeros_like(h_bar) if gradients[2] is None else gradients[2].reshape(h.shape[-2:])
    x_bar, w_bar, u_bar = torch.zeros_like(x), torch.zeros_like(w), torch.zeros_like(u)
    b_bar = torch.zeros_like(b)
    for time in reversed(order):
        before, cell, (i, f, g, o), after = kept[time]
        h_bar = h_bar if gradients[0] is None else h_bar + gradients[0][time]
        c_bar = c_bar + h_bar * o * (1 - after.tanh() ** 2)
        slopes = (
            c_bar * g * i * (1 - i),
            c_bar * cell * f * (1 - f),
            c_bar * i * (1 - g**2),
            h_bar * after.tanh() * o * (1 - o),
        )
        gates = torch.cat(slopes, 1)
        x_bar[time] = gates @ w
        w_bar, u_bar, b_bar = w_bar + gates.T @ x[time], u_bar + gates.T @ before, b_bar + gates.sum(0)
        h_bar, c_bar = gates @ u, c_bar * f
    return x_bar, w_bar, u_bar, b_bar, b_bar, h_bar.reshape(h.shape), c_bar.reshape(c.shape)


def _run_forward(given: Any, order: list[int]) -> dict[int, tuple[Any, Any, tuple[Any, ...], Any]]:
    """For each time: the hidden and the cell state before, the gates, the cell state after."""
    x, w, u, b, d, h, c = given
    hidden, cell = h.reshape(h.shape[-2:]), c.reshape(c.shape[-2:])
    kept = {}
    for time in order:
        i, f, g, o = (x[time] @ w.T + b + hidden @ u.T + d).chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        after = f * cell + i * g
        kept[time] = (hidden, cell, (i, f, g, o), after)
        hidden, cell = o * after.tanh(), after
    return kept
