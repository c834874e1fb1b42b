"""Anything with numbers in it -- arrays, nested lists, DataFrames, tensors of torch and JAX -- as a
C-contiguous array, or a sentence that names the argument.

What is C-contiguous and float64 (or float32, where that will do) is passed on as it is; everything
else is copied once. Whether numbers are finite is for the library to say: it reads them anyway."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._problems import wrong, wrong_type

Names: TypeAlias = tuple[str, ...]

# Numbers of these types are float32 to the last bit.
_SMALL = {np.dtype(code) for code in "?bBhHef"}


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
    if kind in "SU":
        raise wrong(f"{argument}: holds text, not numbers")
    if kind in "mM":
        raise wrong(f"{argument}: holds dates or times; turn them into numbers, or leave them out")
    kept = single and array.dtype in _SMALL
    try:
        return np.ascontiguousarray(array, np.float32 if kept else np.float64)
    except (TypeError, ValueError) as why:
        problem = wrong_type if isinstance(why, TypeError) else wrong
        raise problem(f"{argument}: holds what is not a number: {why}") from why


def any_array(value: object, argument: str) -> npt.NDArray[Any]:
    """An array of whatever kind."""
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
    """The names of a DataFrame's columns; None where they are numbers or there are none."""
    columns = getattr(value, "columns", None)
    if columns is None or callable(columns):
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
