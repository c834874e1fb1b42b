"""Tables and labelled arrays of other packages as plain arrays with names of columns: pandas,
polars, pyarrow, AnnData, xarray. They are known by what they can do; none is imported here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._problems import wrong, wrong_type


def is_anndata(value: object) -> bool:
    """X (cells, genes) with tables obs and var beside it."""
    return all(hasattr(value, part) for part in ("X", "obs", "var_names"))


def _is_xarray_dataset(value: object) -> bool:
    return hasattr(value, "data_vars") and hasattr(value, "to_array")


def _is_arrow(value: object) -> bool:
    return hasattr(value, "column_names") and hasattr(value, "to_pydict")


def plain(value: Any, argument: str) -> Any:
    """What numpy can read in the place of `value`; anything that it reads anyway as it is."""
    if is_anndata(value):
        x = anndata_x(value, argument)
        return x.toarray() if hasattr(x, "toarray") else x
    if _is_xarray_dataset(value):
        return _variables(value, argument)
    if _is_arrow(value):
        return np.column_stack([np.asarray(column) for column in value.columns])
    if hasattr(value, "collect") and hasattr(value, "collect_schema"):
        raise wrong_type(f"{argument}: is a polars LazyFrame; read it: {argument}.collect()")
    return value


def anndata_x(data: Any, argument: str) -> Any:
    """X in memory, dense or sparse."""
    x = data.X
    if x is None:
        raise wrong(f"{argument}: the AnnData has no X; pass one of its layers")
    if hasattr(x, "to_memory"):  # sparse, in a file
        x = x.to_memory()
    return x


def _variables(data: Any, argument: str) -> Any:
    """The variables of a Dataset of xarray side by side, where they are columns of one table."""
    columns = list(data.data_vars.values())
    if columns and all(one.ndim == 1 and one.dims == columns[0].dims for one in columns):
        return np.column_stack([np.asarray(one) for one in columns])
    names = ", ".join(repr(name) for name in data.data_vars) or "none"
    raise wrong(
        f"{argument}: is an xarray Dataset whose variables ({names}) are not columns of one table; "
        f"pass one of them, as in {argument}[name]"
    )


def columns_of(value: Any) -> Iterable[Any] | None:
    """The names of the columns, whatever they are; None where there are none."""
    if is_anndata(value):
        return list(value.var_names)
    if _is_xarray_dataset(value):
        return list(value.data_vars)
    if _is_arrow(value):
        return list(value.column_names)
    if hasattr(value, "dims") and hasattr(value, "coords"):  # DataArray of xarray
        last = value.dims[-1] if len(value.dims) == 2 else None
        return value.coords[last].values.tolist() if last in value.coords else None
    columns = getattr(value, "columns", None)
    return None if columns is None or callable(columns) else list(columns)


def choose(value: Any, names: list[str]) -> Any:
    """The table with these columns alone."""
    if is_anndata(value):
        return value[:, names]
    return value.select(names) if _is_arrow(value) else value[names]


def cells_of(value: Any, name: str) -> list[Any]:
    """A column of the table."""
    return value[name].to_pylist() if _is_arrow(value) else list(value[name])


def is_missing(cell: Any) -> bool:
    """None, NaN, or pandas' NA, which does not say whether it differs from itself."""
    try:
        return cell is None or bool(cell != cell)
    except TypeError:
        return True


def index_of(value: Any) -> Any:
    """The names of the rows, for a table of the same rows; None where there are none."""
    if is_anndata(value):
        return value.obs.index
    index = getattr(value, "index", None)
    return None if callable(index) else index


def text_column(value: Any) -> tuple[str, str] | None:
    """The first column of a table with a text in it, and that text."""
    columns = columns_of(value)
    if columns is None or not hasattr(value, "__getitem__") or is_anndata(value):
        return None
    for name in columns:
        try:
            column = list(value[name])
        except Exception:  # a table that goes by something else than names
            return None
        text = next((entry for entry in column if isinstance(entry, str)), None)
        if text is not None:
            return str(name), text
    return None
