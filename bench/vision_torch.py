"""The step of bench/vision.c in PyTorch: the same networks, batch, losses and gradients, with Adam's update.
Arguments: threads, on the CPU; or `cuda` and the batch, compiled and captured as a CUDA graph, with PyTorch's own
choice of TF32. Prints one line of JSON: seconds, best of 40."""
import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional

SIDE, NODES, PIXELS, KEYS = 64, 6, 128, 16
THERE = sys.argv[1] == "cuda"
BATCH = int(sys.argv[2]) if THERE else 32

if THERE:
    torch.set_default_device("cuda")
else:
    torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [(5, 16, 2), (16, 32, 2), (32, 32, 1), (32, 32, 1)]
        self.convs = nn.ModuleList(nn.Conv2d(a, b, 3, stride, 1) for a, b, stride in widths)
        self.keys = nn.Conv2d(32, KEYS, 1)
        side, map_side = torch.linspace(-1, 1, SIDE), torch.linspace(-1, 1, 16)
        self.places = torch.stack(torch.meshgrid(side, side, indexing="ij"))[None].expand(BATCH, -1, -1, -1)
        self.place = map_side
        self.first, self.second = nn.Linear(3 * KEYS + 64, 128), nn.Linear(128, NODES)
        self.direct = nn.Linear(2 * KEYS, NODES, bias=False)

    def forward(self, x):
        h = torch.cat([x, self.places], 1)
        for conv in self.convs:
            h = functional.gelu(conv(h), approximate="tanh")
        k = self.keys(h)
        p = functional.softmax(k.flatten(2), 2).view_as(k)
        e = torch.cat([(p.sum(3) * self.place).sum(2), (p.sum(2) * self.place).sum(2)], 1)
        f = torch.cat([e, h.mean((2, 3)), h.amax((2, 3)), k.logsumexp((2, 3))], 1)
        return self.second(functional.gelu(self.first(f), approximate="tanh")) + self.direct(e)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(NODES + 2, 64), nn.Linear(64, 3)
        self.between = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))

    def forward(self, z, q):
        h = functional.gelu(self.first(torch.cat([z[:, None].expand(-1, PIXELS, -1), q], 2)), approximate="tanh")
        for layer in self.between:
            h = h + functional.gelu(layer(h), approximate="tanh")
        return self.last(h)


encoder, decoder = Encoder(), Decoder()
adam = torch.optim.AdamW([*encoder.parameters(), *decoder.parameters()], lr=1e-3, fused=True, capturable=THERE)
x, v = torch.randn(BATCH, 3, SIDE, SIDE), torch.randn(BATCH, NODES)
mask = (torch.arange(BATCH * NODES) % 5 < 2).view(BATCH, NODES)
pixel = torch.randint(SIDE * SIDE, (BATCH, PIXELS))
place = torch.stack([pixel // SIDE, pixel % SIDE], 2).float() / 32 - 1
seen = torch.gather(x.flatten(2), 2, pixel[:, None].expand(-1, 3, -1)).transpose(1, 2)


def loss_of():
    z = encoder(x)
    loss = ((z - v)**2 * mask).sum() / mask.sum()
    return loss + ((decoder(torch.where(mask, v, z), place) - seen)**2).mean()


def step(of=loss_of):
    adam.zero_grad()
    of().backward()
    adam.step()


def captured():
    compiled = torch.compile(loss_of)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(5):
            step(compiled)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step(compiled)
    return graph.replay


once, times = (captured(), 50) if THERE else (step, 1)
best = 1e300
for _ in range(40):
    begun = time.perf_counter()
    for _ in range(times):
        once()
    if THERE:
        torch.cuda.synchronize()
    best = min(best, (time.perf_counter() - begun) / times)
print(json.dumps({"step": round(best, 7), "batch": BATCH, "torch": torch.__version__}))
