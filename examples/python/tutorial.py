# %% [markdown]
# # From raw arrays to an answered question
#
# docs/tutorial.md in Python, with figures. In some cells *raf* raises *akt* directly, and lowers it
# by way of *mek* and *erk*. What if we raise raf and block erk? Nobody has done both at once, and
# nobody has measured raf, mek, erk or akt: there is only a microscope with 40 channels, each of
# which sees a mixture of all four.
#
# Run it cell by cell in an editor that knows `# %%`, or whole: `python tutorial.py FOLDER`. Figures
# go to FOLDER. It needs matplotlib (`pip install '.[plot]'`).

# %%
import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import lscm

folder = Path(sys.argv[1] if len(sys.argv) > 1 and "ipykernel" not in sys.modules else "figures")
folder.mkdir(exist_ok=True)
names = ["raf", "mek", "erk", "akt"]
blue, orange, grey = "#2b6cb0", "#c05621", "#718096"

# %% [markdown]
# ## 1. The arrays
#
# You have them from your experiment. Here they are made up, so that the answer can be checked.

# %%
rng = np.random.default_rng(1)
channels = rng.normal(size=(4, 40))  # what each variable adds to each of 40 channels
causes = {1: [(0, 1.2)], 2: [(1, -0.8)], 3: [(0, 0.5), (2, 0.9)]}


def measure(rows, setting):
    """Cells under do(setting): what the microscope sees, what was set, and to which level."""
    targets, values, z = np.zeros((rows, 4), int), np.zeros((rows, 4)), np.zeros((rows, 4))
    for i in range(4):
        if i in setting:  # set by the experimenter, near a level
            targets[:, i] = 1
            values[:, i] = z[:, i] = rng.normal(setting[i], 0.5, rows)
        else:  # left to its causes and to chance
            z[:, i] = sum(w * z[:, j] for j, w in causes.get(i, [])) + rng.normal(0, 0.5, rows)
    return z @ channels + rng.normal(0, 0.05, (rows, 40)), targets, values


batches = [measure(200, {})]  # untouched cells, then single and double interventions
for level in (-2, 1, 3):
    batches += [measure(40, {i: level}) for i in range(4)]
    batches += [measure(40, {i: level, (i + 1) % 4: -level}) for i in range(4)]
x, targets, values = (np.concatenate(part) for part in zip(*batches, strict=True))
new = measure(5, {})[0]  # for later: five more cells, of which only x is known

# %% [markdown]
# ## 2. Look before you fit

# %%
data = lscm.Dataset(x, targets, values, node_names=names)
print(data)
print(data.check())

# %% [markdown]
# ## 3. Fit

# %%
model = lscm.LatentSCM().fit(data)
print(model.summary())

# %%
(folder / "graph.svg").write_text(model.run_.draw())
model  # noqa: B018 -- in a notebook: the graph

# %% [markdown]
# ## 4. Does it hold?
#
# The values that were set, read off x; and every weight with its uncertainty beside the truth.

# %%
z = model.transform(x)
figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for i, axis in enumerate(axes):
    at = targets[:, i] == 1
    axis.plot(values[at, i], z[at, i], ".", color=blue, markersize=3)
    axis.axline((0, 0), slope=1, color=grey, linewidth=0.8)
    r2 = model.summary()["anchors"][names[i]]["r2"]
    axis.set(title=f"{names[i]}, R2 {r2:.3f}", xlabel="value that do() set")
axes[0].set_ylabel("value read off x")
figure.savefig(folder / "anchors.svg")

# %%
likely = [(j, i) for j in range(4) for i in range(4) if model.edge_probabilities_[j, i] > 0.5]
figure, axes = plt.subplots(1, len(likely), figsize=(11, 3), layout="constrained")
for axis, (j, i) in zip(axes, likely, strict=True):
    axis.hist(model.weights_[:, j, i], 30, color=blue)
    truth = dict(causes.get(i, [])).get(j, 0)
    axis.axvline(truth, color=orange)
    axis.set(title=f"{names[j]} → {names[i]}", xlabel="weight", yticks=[])
axes[0].set_ylabel("posterior draws; orange: the truth")
figure.savefig(folder / "weights.svg")

# %% [markdown]
# Another seed, and another method: if the conclusion depends on either, it is not one.

# %%
again = lscm.LatentSCM(seed=1).fit(data)
paper = lscm.LatentSCM(method="biols", steps=1000, restarts=2).fit(data)
for title, other in (("another seed", again), ("the paper's algorithm, cut short", paper)):
    distance = model.run_.distance(other.run_)
    print(f"{title}: expected SHD {distance['e_shd']:.2f}, largest {distance['largest']:.2f}")

# %% [markdown]
# ## 5. The question
#
# Raising raf lowers akt, all in all. With erk blocked at the same time, which is not among the
# experiments, akt goes up: to 0.5 x 2 + 0.9 x 0 = 1, give or take 0.5 from cell to cell.

# %%
raised = model.predict_interventional(do={"raf": 2}, n=2000)
blocked = model.predict_interventional(do={"raf": 2, "erk": 0}, n=2000)
print(raised, blocked, sep="\n\n")

# %%
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
for do, color in (({"raf": 2}, grey), ({"raf": 2, "erk": 0}, blue)):
    akt = model.sample(do=do, n=2000).z[:, 3]
    title = "do(" + ", ".join(f"{node} = {value}" for node, value in do.items()) + ")"
    axis.hist(akt, 50, color=color, alpha=0.6, label=title)
axis.axvline(1, color=orange, label="the truth, mean of the second")
axis.set(xlabel="akt", ylabel="rows", yticks=[])
axis.legend(frameon=False)
figure.savefig(folder / "question.svg")

# %%
levels = np.linspace(-2, 3, 11)
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
for more, color, title in (({}, grey, "erk left alone"), ({"erk": 0}, blue, "erk blocked")):
    bands = [model.predict_interventional(do={"raf": level, **more}).z for level in levels]
    axis.plot(levels, [band.mean[3] for band in bands], color=color, label=title)
    lower, upper = [band.lower[3] for band in bands], [band.upper[3] for band in bands]
    axis.fill_between(levels, lower, upper, color=color, alpha=0.2, linewidth=0)
axis.set(xlabel="raf is set to", ylabel="akt: mean and 90% band")
axis.legend(frameon=False)
figure.savefig(folder / "effect.svg")

# %% [markdown]
# ## 6. New cells

# %%
found, sd = model.transform(new, return_sd=True)
print(np.round(found, 2), np.round(sd, 2), sep="\n")

# %% [markdown]
# ## 7. Take it elsewhere

# %%
model.save(folder / "cells.run", force=True)  # lscm info cells.run
model.report(folder / "cells.html", force=True)
model.run_.export(folder / "edges.csv", force=True)
print(sorted(os.listdir(folder)))
