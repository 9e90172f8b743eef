import torch
from torch import nn

torch.manual_seed(0)
lstm = nn.LSTM(3, 4, num_layers=2, batch_first=True)
gru = nn.GRUCell(4, 4)
head = nn.Linear(4, 1)
x = torch.randn(2, 5, 3)
packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3]), batch_first=True)
out, (h, c) = lstm(packed)
padded, lengths = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
state = gru(padded[:, -1], h[-1])
loss = (head(state) + c.sum()).pow(2).sum()
loss.backward()
