import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(32, 64)
        self.fc2 = nn.Linear(64, 64)
        self.fc3 = nn.Linear(64, 10)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        h = torch.relu(self.fc1(x))
        h = self.drop(torch.relu(self.fc2(h)))
        return self.fc3(h)


model = MLP()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
inputs, labels = torch.randn(16, 32), torch.randint(0, 10, (16,))
history = []
for _step in range(3):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    history.append(loss.item())
