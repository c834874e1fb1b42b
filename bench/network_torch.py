"""The step of bench/network.c in PyTorch on the CPU: the same network, batches picked alike, loss and
gradients, with plain momentum (SGD); and once more with that momentum made orthogonal by the same five
Newton-Schulz steps. Argument: threads. Prints the seconds of both, best of 40 times 5 steps; nothing where
there is no PyTorch."""
import sys
import time

try:
    import torch
    from torch import nn
except ImportError:
    print("bench/network_torch.py: PyTorch is not installed; left out", file=sys.stderr)
    sys.exit(0)

NODES, FEATURES, HIDDEN, BATCH, ROWS = 20, 100, 128, 512, 4000

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(NODES, HIDDEN, bias=False), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN, bias=False), nn.ReLU(),
                    nn.Linear(HIDDEN, FEATURES, bias=False))
z = torch.randn(ROWS, NODES)
f = torch.randn(ROWS, FEATURES)
parameters = list(net.parameters())
momenta = [torch.zeros_like(p) for p in parameters]
sgd = torch.optim.SGD(parameters, lr=1e-3, momentum=0.95, nesterov=True)


def loss():
    rows = torch.randint(ROWS, (BATCH,))
    sgd.zero_grad()
    nn.functional.mse_loss(net(z[rows]), f[rows]).backward()


def plain():
    loss()
    sgd.step()


@torch.no_grad()
def turn():
    for p, m in zip(parameters, momenta):
        m.mul_(0.95).add_(p.grad)
        x = p.grad + 0.95 * m
        x = x / x.norm()
        tall = x.shape[0] > x.shape[1]
        x = x.T if tall else x
        for _ in range(5):
            a = x @ x.T
            x = 3.4445 * x + torch.addmm(a, a, a, beta=-4.7750, alpha=2.0315) @ x
        p.add_(x.T if tall else x, alpha=-1e-3)


def same():
    loss()
    turn()


def seconds(step):
    best = 1e300
    for _ in range(40):
        begun = time.perf_counter()
        for _ in range(5):
            step()
        best = min(best, (time.perf_counter() - begun) / 5)
    return best


print(seconds(plain), seconds(same))
