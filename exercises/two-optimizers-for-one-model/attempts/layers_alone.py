"""A model of film ratings: large tables with sparse gradients, and small dense layers."""

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, users=5000, genres=20, size=8):
        super().__init__()
        self.users = nn.Embedding(users, size, sparse=True)
        self.genres = nn.Embedding(genres, size)
        self.embedding_to_rating = nn.Linear(size, 1)

    def forward(self, users, genres):
        return self.embedding_to_rating(self.users(users) + self.genres(genres)).squeeze(-1)


def make_optimizers(model, lr, weight_decay):
    """A list of optimizers: SparseAdam for the parameters with sparse gradients, AdamW for all others."""
    owners = {}
    for module in model.modules():
        gives_sparse = isinstance(module, (nn.Embedding, nn.EmbeddingBag)) and module.sparse
        for parameter in module.parameters(recurse=False):
            owners.setdefault(parameter, []).append(gives_sparse)
    sparse = [parameter for parameter, all_give in owners.items() if all(all_give)]
    dense = [parameter for parameter, all_give in owners.items() if not all(all_give)]
    return [torch.optim.AdamW(dense, lr=lr, weight_decay=weight_decay)] if dense else []


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Model()
    optimizers = make_optimizers(model, lr=0.05, weight_decay=0.1)
    for step in range(3):
        users, genres = torch.randint(5000, (32,)), torch.randint(20, (32,))
        loss = F.mse_loss(model(users, genres), torch.randn(32))
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        print(f"step {step}  loss {loss.item():.3f}")
