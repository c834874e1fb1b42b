"""AnnData in memory, handed to the library as a file: what do() did stands in columns of obs, and
means what it means in an .h5ad file (docs/formats.md)."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from ._arrow import Folder
from ._core import Error
from ._problems import package, wrong

LAYER = "x"  # of the file: as X it might lose digits


@contextlib.contextmanager
def written(data: Any) -> Iterator[tuple[str, Folder]]:
    """Its X, obs and names of genes in a file, and the folder to keep for as long as it is read.

    Sentences about it name the argument.
    """
    if data.X is None:
        raise wrong("X: the AnnData has no X; pass one of its layers")
    folder = tempfile.TemporaryDirectory(prefix="lscm-")
    path = os.path.join(folder.name, "cells.h5ad")
    x = data.X.to_memory() if hasattr(data.X, "to_memory") else data.X
    names = package("pandas", "an AnnData").DataFrame(index=data.var_names)
    obs = data.obs.copy()  # writing turns text into categories
    made = package("anndata", "an AnnData").AnnData(obs=obs, var=names, layers={LAYER: x})
    made.write_h5ad(path)
    try:
        yield path, folder
    except Error as problem:
        problem.args = (str(problem).replace(path, "X"), *problem.args[1:])
        raise
