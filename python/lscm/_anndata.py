"""AnnData in memory, handed to the library as a file: what do() did stands in columns of obs, and
means what it means in an .h5ad file (docs/formats.md)."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from ._arrow import Folder
from ._column_words import sounds_like_values
from ._core import Error
from ._frames import anndata_x
from ._problems import package, wrong

LAYER = "x"  # of the file: as X it might lose digits


@contextlib.contextmanager
def written(
    data: Any, target_column: str | None, value_column: str | None
) -> Iterator[tuple[str, Folder]]:
    """Its X, obs and names of genes in a file, and the folder to keep for as long as it is read.

    Sentences about it name the argument.
    """
    x = anndata_x(data, "X")
    folder = tempfile.TemporaryDirectory(prefix="lscm-")
    path = os.path.join(folder.name, "cells.h5ad")
    names = package("pandas", "an AnnData").DataFrame(index=data.var_names)
    obs = _needed(data.obs, target_column, value_column).copy()  # writing makes categories of text
    made = package("anndata", "an AnnData").AnnData(obs=obs, var=names, layers={LAYER: x})
    try:
        made.write_h5ad(path)
    except Exception as why:  # of many kinds: a column of obs may hold anything
        said = " ".join(str(why).split())
        raise wrong(
            f"X: anndata cannot write it to a file ({said}); name the columns of obs that are "
            "needed: target_column, value_column"
        ) from why
    try:
        yield path, folder
    except Error as problem:
        problem.args = (str(problem).replace(path, "X"), *problem.args[1:])
        raise


def _needed(obs: Any, target: str | None, value: str | None) -> Any:
    """The columns that are told, and those that may be taken for values; all, where the targets
    are looked for, or a name is wrong and the sentence lists them."""
    told = [name for name in (target, value) if name is not None]
    if target is None or not set(told) <= set(obs.columns):
        return obs
    return obs[
        [
            name
            for name in obs.columns
            if name in told or (value is None and sounds_like_values(str(name)))
        ]
    ]
