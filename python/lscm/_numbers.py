"""Anything with numbers in it -- arrays, nested lists, DataFrames, tensors of torch and JAX -- as a
C-contiguous array, or a sentence that names the argument.

What is C-contiguous and float64 (or float32, where that will do) is passed on as it is; everything
else is copied once. Whether numbers are finite is for the library to say: it reads them anyway."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._frames import columns_of, plain, text_column
from ._problems import wrong, wrong_type

Names: TypeAlias = tuple[str, ...]

# Numbers of these types are float32 to the last bit.
_SMALL = {np.dtype(code) for code in "?bBhHef"}
_MISSING = ("NAType", "NaTType")


def numbers(value: object, argument: str, *, single: bool = False) -> Any:
    """A C-contiguous float64 array; with `single` a float32 one where that loses nothing.

    >>> import numpy as np
    >>> numbers([[1, 2], [3, 4]], "X")
    array([[1., 2.],
           [3., 4.]])
    >>> numbers(np.zeros(2, np.uint8), "X", single=True).dtype
    dtype('float32')
    >>> numbers(["a"], "X")
    Traceback (most recent call last):
    lscm.ValueProblem: X: holds text, not numbers
    """
    array = any_array(value, argument)
    kind = array.dtype.kind
    if kind == "c":
        raise wrong(
            f"{argument}: Complex data not supported; pass the real part, the absolute value, or "
            "both parts as features"
        )
    if kind in "SUOT":
        _refuse_text(value, argument, all_text=kind != "O")
    if kind in "mM":
        raise wrong(f"{argument}: holds dates or times; turn them into numbers, or leave them out")
    kept = single and array.dtype in _SMALL
    try:
        array = _filled(array) if kind == "O" else array
        return np.ascontiguousarray(array, np.float32 if kept else np.float64)
    except (TypeError, ValueError) as why:
        problem = wrong_type if isinstance(why, TypeError) else wrong
        raise problem(f"{argument}: holds what is not a number: {why}") from why


def _refuse_text(value: object, argument: str, *, all_text: bool) -> None:
    """Says which column of a table holds text."""
    found = text_column(value)
    if found is not None:
        raise wrong(
            f"{argument}: its column {found[0]!r} holds text ({found[1]!r}), not numbers; leave it "
            "out, or turn it into numbers"
        )
    if all_text:
        raise wrong(f"{argument}: holds text, not numbers")


def _filled(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """NaN for what Python (None) and pandas (NA, NaT) call missing: the library says where."""
    missing = [entry is None or type(entry).__name__ in _MISSING for entry in array.flat]
    if not any(missing):
        return array
    filled = array.copy()
    filled[np.reshape(missing, array.shape)] = np.nan
    return filled


def any_array(value: object, argument: str) -> npt.NDArray[Any]:
    """An array of whatever kind."""
    value = plain(value, argument)
    if hasattr(value, "toarray"):
        raise wrong_type(f"{argument}: is a sparse matrix; pass it dense: {argument}.toarray()")
    if isinstance(value, (str, bytes)) or hasattr(value, "__fspath__"):
        raise wrong_type(
            f"{argument}: is a text; to use a file, open it: lscm.open({str(value)!r})"
        )
    try:
        array = np.asanyarray(value)
    except Exception as why:  # whatever an __array__ may raise
        raise wrong(f"{argument}: cannot be read as an array of numbers: {why}") from why
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise wrong(f"{argument}: has masked entries; fill them or leave those rows out")
    return np.asarray(array)


def column_names(value: object, argument: str) -> Names | None:
    """The names of a table's columns; None where they are numbers or there are none."""
    columns = columns_of(value)
    if columns is None:
        return None
    names = list(columns)
    texts = [isinstance(name, str) for name in names]
    if not any(texts):
        return None
    if not all(texts):
        raise wrong_type(
            f"{argument}: some names of its columns are texts and some are not; convert them: "
            f"{argument}.columns = {argument}.columns.astype(str)"
        )
    return tuple(names)


def dimensions(array: npt.NDArray[Any]) -> str:
    """ "2 dimensions"."""
    return f"{array.ndim} dimension{'' if array.ndim == 1 else 's'}"
