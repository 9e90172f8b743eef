"""Learns the values of the states of a random walk from single steps: five states in a row, an end on each side."""

import torch
from torch import nn
from torch.nn import functional as F

GAMMA = 0.9


def load_steps(count=20000):
    """Steps of one place to the left or right. Places 0 and 6 are the ends, and only the right one pays."""
    torch.manual_seed(2)
    places = torch.randint(1, 6, (count,))
    after = places + 2 * torch.randint(0, 2, (count,)) - 1
    states, next_states = F.one_hot(places, 7).float(), F.one_hot(after, 7).float()
    return states, (after == 6).float(), next_states, (after == 0) | (after == 6)


def compute_true_values():
    """The values that satisfy v = r + gamma * (the mean of both neighbours' values)."""
    walk = torch.zeros(5, 5)
    for place in range(4):
        walk[place, place + 1] = walk[place + 1, place] = 0.5
    return torch.linalg.solve(torch.eye(5) - GAMMA * walk, torch.tensor([0.0, 0, 0, 0, 0.5]))


def td_loss(value, states, rewards, next_states, done, gamma=GAMMA):
    rewards.unsqueeze_(-1)
    rewards = rewards[:, 0]
    follow = torch.where(done, torch.zeros_like(rewards), gamma * value(next_states).detach())
    return (value(states) - (rewards + follow)).square().mean()


def train(value, steps, lr=0.5, size=100):
    optimizer = torch.optim.SGD(value.parameters(), lr=lr)
    for batch in zip(*(part.split(size) for part in steps), strict=True):
        loss = td_loss(value, *batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    value = nn.Sequential(nn.Linear(7, 1, bias=False), nn.Flatten(0))
    nn.init.zeros_(value[0].weight)
    for _ in range(3):
        train(value, load_steps())
    print("true values:   ", " ".join(f"{v:.2f}" for v in compute_true_values()))
    print("learned values:", " ".join(f"{v:.2f}" for v in value[0].weight.detach()[0, 1:6]))
