"""The step of bench/net.c in PyTorch on the CPU: the same network, batch, loss, gradients (input
included) and optimiser. Argument: threads. Prints one line of JSON: seconds, best of 60."""
import json
import sys
import time

import torch
from torch import nn

ROWS, WIDTHS = 16384, [5, 16, 64, 64, 64, 100]

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(1)
layers = []
for fan_in, fan_out in zip(WIDTHS, WIDTHS[1:]):
    layers += [nn.Linear(fan_in, fan_out, bias=False), nn.GELU(approximate="tanh")]
net = nn.Sequential(*layers[:-1])
adam = torch.optim.Adam(net.parameters(), lr=8e-4, fused=True)
z = torch.randn(ROWS, WIDTHS[0], requires_grad=True)
x = torch.randn(ROWS, WIDTHS[-1])


def step():
    adam.zero_grad()
    z.grad = None
    nn.functional.mse_loss(net(z), x, reduction="sum").backward()
    adam.step()


best = 1e300
for run in range(60):
    begun = time.perf_counter()
    step()
    best = min(best, time.perf_counter() - begun)
print(json.dumps({"step": round(best, 6), "torch": torch.__version__}))
