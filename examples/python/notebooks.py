"""Makes and runs the notebooks beside this file: vectors, pictures, observed variables, cells.

    pip install lscm nbformat nbclient ipykernel matplotlib pandas anndata
    python3 examples/python/notebooks.py [NAME...]

Each is a list of cells below: text, or code after ">>>". The tests run the code of the notebooks."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

VECTORS = [
    """# Causes behind vectors

Each row of `X` is a vector, such as a spectrum, that mixes a few causes nobody measured. In some rows an experimenter set
causes to known values. Here the data are made up, so that the truth is known; yours are arrays of the same shapes.""",
    """>>> import lscm

data = lscm.simulate("revised-linear", nodes=5, features=30, sets=20, per_set=25, observational=200, seed=2)
X, targets, values = data.x, data.targets, data.values
names = ["raf", "mek", "erk", "akt", "pka"]
X.shape, targets.shape, values.shape""",
    """>>> model = lscm.LatentSCM().fit(X, targets, values, node_names=names)
model""",
    """The likely edges, with the weights that the draws of the posterior have:""",
    """>>> model.edges_.head(6).round(2)""",
    """>>> model.plot_graph();""",
    """What would be seen if somebody set `mek`, which need not be among the experiments:""",
    """>>> model.predict(do={"mek": 1.5})""",
    """>>> best = model.edges_.iloc[0]
model.plot_effect(best.parent, best.child);""",
    """How far to trust it, and how it compares with the truth:""",
    """>>> model.check()""",
    """>>> scores = lscm.evaluate(model, data)
{name: round(scores[name], 2) for name in ("e_shd", "auroc", "mcc")}""",
]

PICTURES = [
    """# Causes behind pictures

`X` is N x H x W. Two blobs are as bright as two causes make them, and one cause moves the other. The fit finds out that
these pictures are linear in their causes; others train a network, which takes longer.""",
    """>>> import lscm
import matplotlib.pyplot as plt

data = lscm.simulate("paper-image", nodes=2, sets=8, per_set=40, observational=80, projection="blobs", seed=1)
print(data.x.shape)
figure, axes = plt.subplots(1, 5, figsize=(8, 1.8))
for ax, picture in zip(axes, data.x[::60]):
    ax.imshow(picture.squeeze(), cmap="gray")
    ax.axis("off")""",
    """>>> model = lscm.LatentSCM().fit(data.x, data.targets, data.values)
model.summary()""",
    """The mean picture under an intervention, and how much it varies:""",
    """>>> figure, axes = plt.subplots(1, 2, figsize=(5, 2.4))
seen = model.predict(do={0: 2.0}, n=500)
for ax, picture, title in zip(axes, (seen.x.mean, seen.x.sd), ("mean under do(0 = 2)", "sd")):
    ax.imshow(picture.squeeze(), cmap="gray")
    ax.set_title(title, fontsize=10)
    ax.axis("off")""",
    """>>> model.plot_latents();""",
]

OBSERVED = [
    """# Causes that were measured

Without `values` nothing is latent: the columns of `X` are the variables, and `targets` says which of them were set in each
row.""",
    """>>> import lscm
import pandas as pd

names = ["akt", "raf", "mek", "pka", "erk"]
data = lscm.simulate(projection="identity", nodes=5, targets="cycle", sets=10, per_set=40, observational=200, seed=4)
X = pd.DataFrame(data.x, columns=names)
targets = pd.DataFrame(data.targets, columns=names)
X.head(3).round(2)""",
    """>>> model = lscm.LatentSCM().fit(X, targets)
model""",
    """>>> model.plot_graph();""",
    """How well rows that were not fitted are predicted from what was set alone (R2):""",
    """>>> again = lscm.LatentSCM(holdout=0).fit(X[::2], targets[::2])
round(again.score(X[1::2], targets[1::2]), 2)""",
    """>>> model.predict(do={"raf": 2.0}).to_pandas().round(2)""",
]

CELLS = [
    """# Genes of single cells

A screen: each cell had one gene held down by a guide, or none, and its transcripts were counted. Which genes act on which,
and what would two guides at once do, which no cell had? The data are made up here, as an AnnData file, so that the truth is
known; yours is the file that scanpy or Cell Ranger left.

What the fit takes for granted, of these data and of yours:

- **A guide sets its gene.** The level that was measured is what do() set, and it no longer follows what acts on that gene. A
  guide that only shifts it, or that fails in half of the cells, is another model.
- **Effects are linear in logarithms of counts**, so counts must be high enough that their logarithms have no floor.
- **Nothing that nobody measured moves two of the genes**: no cell cycle, no batch, no other cell type.
- **Genes do not act on each other in circles**, and cells were counted when all had settled.""",
    """>>> import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import sparse

import lscm

random = np.random.default_rng(1)
genes = ["RUNX1", "TAL1", "GATA1", "KLF1", "SPI1", "CEBPA"]
true = {("TAL1", "GATA1"): 0.7, ("GATA1", "KLF1"): 0.8, ("GATA1", "SPI1"): -0.6, ("RUNX1", "SPI1"): 0.5, ("SPI1", "CEBPA"): 0.9}
names = genes + [f"other{i}" for i in range(194)]


def count(cells, held):
    \"\"\"Transcripts (cells, 200); held: the log level at which a guide keeps a gene, whatever acts on it.\"\"\"
    log = 0.3 * random.standard_normal((cells, len(names)))
    for i, gene in enumerate(genes):
        causes = sum(weight * log[:, genes.index(a)] for (a, b), weight in true.items() if b == gene)
        log[:, i] = held[gene] if gene in held else causes + 0.4 * random.standard_normal(cells)
    depth = np.exp(0.3 * random.standard_normal((cells, 1)))
    return random.poisson(150 * depth * np.exp(log))


def screen(level):
    \"\"\"600 cells with a guide for nothing, and 150 for each gene: an AnnData of log counts.\"\"\"
    counts = np.vstack([count(600, {})] + [count(150, {gene: level()}) for gene in genes])
    guide = ["non-targeting"] * 600 + [gene for gene in genes for _ in range(150)]
    obs = pd.DataFrame({"guide": pd.Categorical(guide)}, index=[f"cell{i}" for i in range(len(guide))])
    return anndata.AnnData(sparse.csr_matrix(normalised(counts)), obs=obs, var=pd.DataFrame(index=names))


def normalised(counts):
    return np.log1p(1e4 * counts / counts.sum(1, keepdims=True))


cells = screen(lambda: random.uniform(-2, -0.5, 150))  # guides differ in how far they go
cells.write_h5ad("cells.h5ad")
cells""",
    """The file says the rest: the column `guide` has names of genes, so these are the variables, observed; `non-targeting` is
one of the usual words for a control. The other genes are nobody's target and are left out. `recipe` says what was
understood; `target_column`, `control` and `layer` of `lscm.open` say otherwise.""",
    """>>> data = lscm.open("cells.h5ad")
print(data.node_names)
data.recipe""",
    """>>> model = lscm.LatentSCM().fit(data)
model""",
    """>>> edges = model.edges_.head(8).round(2)
edges["truth"] = [true.get((edge.parent, edge.child), 0) for edge in edges.itertuples()]
edges""",
    """The model takes what was counted for the level of a gene. A count is that level and some noise, and noise in a cause makes
its effect look smaller: with about 150 transcripts of each gene by a few in a hundred, with few by much more. The intervals
do not know of it.""",
    """>>> model.plot_graph();""",
    """>>> model.plot_effect("GATA1", "SPI1");""",
    """**Two guides at once.** No cell had that. The model predicts it, and here it can be tried: 2000 more cells with both genes
held down, which the fit never saw.""",
    """>>> both = pd.DataFrame(normalised(count(2000, {"GATA1": -1.0, "SPI1": -1.0}))[:, :6], columns=genes)
seen = model.predict(do={"GATA1": both["GATA1"].mean(), "SPI1": both["SPI1"].mean()})
table = seen.to_pandas()
table.round(2)""",
    """>>> place = np.arange(len(genes))
plt.figure(figsize=(6, 3))
low, high = both.quantile(0.05), both.quantile(0.95)
plt.vlines(place - 0.1, seen.z.lower, seen.z.upper, "tab:orange", lw=3)
plt.plot(place - 0.1, seen.z.mean, "o", color="tab:orange", label="predicted")
plt.vlines(place + 0.1, low, high, "gray", lw=3)
plt.plot(place + 0.1, both.mean(), "o", color="gray", label="2000 new cells")
plt.xticks(place, genes)
plt.ylabel("log expression, 90% of cells")
plt.title("GATA1 and SPI1 held down at once", fontsize=10)
plt.legend(frameon=False);""",
    """**How far to trust it.** `check` asks what the rows say against the fit, and which edges the design decides:""",
    """>>> model.check()""",
    """**When it does not hold.** The same screen, but the guides silence their genes altogether. Logarithms of counts near zero
have a floor, so a silenced gene moves others further than its logarithm says. The fit says that something is wrong, though
not what. (It warns by itself; the warnings are collected here.) Compare its edges with the truth:""",
    """>>> import warnings

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    silenced = screen(lambda: -5.0)
    silenced.write_h5ad("silenced.h5ad")
    wrong = lscm.LatentSCM().fit(lscm.open("silenced.h5ad"))
for warning in said:
    if issubclass(warning.category, lscm.FitWarning):
        print("-", warning.message)
edges = wrong.edges_.query("probability > 0.5").round(2)
edges["truth"] = [true.get((edge.parent, edge.child), 0) for edge in edges.itertuples()]
edges""",
    """Drugs go the same way. Where the words in the column are not genes, they are latent variables, and a column `dose` (or
the one that `value_column` says) has the values of do(); genes are then features.""",
]

NOTEBOOKS = {"vectors": VECTORS, "pictures": PICTURES, "observed": OBSERVED, "cells": CELLS}


def notebook(name: str) -> Any:
    """The cells, run."""
    import nbformat
    from nbclient import NotebookClient

    made = nbformat.v4.new_notebook()
    for number, cell in enumerate(NOTEBOOKS[name]):
        code = cell.startswith(">>> ")
        new = nbformat.v4.new_code_cell if code else nbformat.v4.new_markdown_cell
        made.cells.append(new(cell.removeprefix(">>> "), id=f"cell-{number}"))
    with tempfile.TemporaryDirectory() as folder:  # for the files that cells write
        place = {"metadata": {"path": folder}}
        NotebookClient(
            made, timeout=600, kernel_name="python3", record_timing=False, resources=place
        ).execute()
    made.metadata = {"language_info": {"name": "python"}}
    return made


if __name__ == "__main__":
    for name in sys.argv[1:] or NOTEBOOKS:
        text = json.dumps(notebook(name), indent=1, ensure_ascii=False, sort_keys=True)
        (HERE / f"{name}.ipynb").write_text(text + "\n")
        print(HERE / f"{name}.ipynb")
