"""Makes and runs the notebooks beside this file: vectors, pictures, observed variables.

    pip install lscm nbformat nbclient ipykernel matplotlib pandas
    python3 examples/python/notebooks.py [NAME...]

Each is a list of cells below: text, or code after ">>>". The tests run the code of the notebooks."""

from __future__ import annotations

import json
import sys
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

NOTEBOOKS = {"vectors": VECTORS, "pictures": PICTURES, "observed": OBSERVED}


def notebook(name: str) -> Any:
    """The cells, run."""
    import nbformat
    from nbclient import NotebookClient

    made = nbformat.v4.new_notebook()
    for number, cell in enumerate(NOTEBOOKS[name]):
        code = cell.startswith(">>> ")
        new = nbformat.v4.new_code_cell if code else nbformat.v4.new_markdown_cell
        made.cells.append(new(cell.removeprefix(">>> "), id=f"cell-{number}"))
    NotebookClient(made, timeout=600, kernel_name="python3", record_timing=False).execute()
    made.metadata = {"language_info": {"name": "python"}}
    return made


if __name__ == "__main__":
    for name in sys.argv[1:] or NOTEBOOKS:
        text = json.dumps(notebook(name), indent=1, ensure_ascii=False, sort_keys=True)
        (HERE / f"{name}.ipynb").write_text(text + "\n")
        print(HERE / f"{name}.ipynb")
