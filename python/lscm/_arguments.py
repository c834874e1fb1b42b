"""X, targets and values together: arrays of the same rows and the names that came with them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ._core import Error, MissingProblem, ValueProblem
from ._nodes import Floats, Mask, Nodes
from ._numbers import Names, column_names, dimensions, numbers
from ._problems import hint, wrong, wrong_type
from ._targets import has_values, is_sets, read_mask, read_sets, read_values

X: TypeAlias = npt.NDArray[np.float64] | npt.NDArray[np.float32]


class Arguments(NamedTuple):
    """x (N, ...), targets (N, d), values (N, d), and names of features and nodes."""

    x: X
    targets: Mask
    values: Floats | None
    feature_names: Names | None
    node_names: Names | None


@contextlib.contextmanager
def naming_arguments(check: Callable[[], object] | None = None) -> Iterator[None]:
    """The library says "memory: 'x'" of arrays in memory; here they are arguments.

    Of wrong numbers `check`, which reads every row, may know better which one it is.
    """
    try:
        try:
            yield
        except ValueProblem as problem:
            if problem.status == "VALUE" and check is not None:
                check()
            raise
    except Error as problem:
        text = str(problem)
        for field, argument in (("x", "X"), ("targets", "targets"), ("values", "values")):
            text = text.replace(f"memory: '{field}'", f"{argument}:")
        text = text.replace("memory: ", "")
        if isinstance(problem, MissingProblem) and text != str(problem):  # no file is missing
            raise wrong(text) from None
        problem.args = (text, *problem.args[1:])
        raise


def read_x(x: object) -> tuple[X, Names | None]:
    """X (N, D), (N, H, W) or (N, H, W, C) and the names of its columns, where it has any."""
    array = numbers(x, "X", single=True)
    if array.ndim < 2:
        raise wrong(
            f"X: has {dimensions(array)}; it needs 2 to 4, samples first. Reshape your data: "
            "X.reshape(1, -1) if it is one sample, X.reshape(-1, 1) if it is one feature"
        )
    if array.ndim > 4:
        raise wrong(
            f"X: has {dimensions(array)}; it needs 2 to 4: N x D, N x H x W or N x H x W x C"
        )
    for axis, thing in ((0, "sample"), (1, "feature")):
        if 0 in array.shape[axis : axis + 1 if axis == 0 else None]:
            raise wrong(
                f"X: has 0 {thing}(s) (shape={array.shape}) while a minimum of 1 is required."
            )
    return array, column_names(x, "X")


def read_names(node_names: Sequence[str] | None) -> Names | None:
    """Names of the nodes as somebody lists them."""
    if node_names is None:
        return None
    if isinstance(node_names, str) or not all(isinstance(name, str) for name in node_names):
        raise wrong_type("node_names: list a text for each node, as in ['raf', 'mek']")
    return tuple(node_names)


def read_arguments(
    x: object, targets: object, values: object = None, node_names: Sequence[str] | None = None
) -> Arguments:
    """All arrays of a fit. Nodes have the names that are given, or else those of the columns of
    targets or values; without values the variables are observed, and named as they are in X."""
    seen, features = read_x(x)
    given = read_names(node_names)
    width = int(seen[0].size)
    if is_sets(targets):
        sets: list[Any] = list(targets)  # type: ignore[call-overload]
        known = None if given is None else Nodes(len(given), given)
        if known is None and not has_values(sets, values):
            known = _observed(sets, width, features)
        mask, set_to, nodes = read_sets(sets, values, known)
        names = nodes.names
    else:
        mask, columns = read_mask(targets)
        names = columns if given is None else given
        set_to = None if values is None else read_values(values, columns)
        if names is None and values is not None:
            names = column_names(values, "values")
        if names is None and values is None and mask.shape[1] == width:
            names = features
    _agree(seen, mask, set_to, names)
    return Arguments(seen, mask, set_to, features, names)


def _observed(sets: list[Any], width: int, features: Names | None) -> Nodes:
    """The nodes of target sets without values: the columns of X, if the sets do not speak of fewer.

    Names say which columns they are; numbers say so only where they go to the last.
    """
    rows = [row for row in sets if np.iterable(row) and not isinstance(row, str)]
    members = [node for row in rows for node in row]
    numbers = [int(node) for node in members if isinstance(node, (int, np.integer))]
    names = [node for node in members if isinstance(node, str)]
    if numbers and not names and 0 <= max(numbers) < width - 1:
        raise wrong(
            f"targets: name the nodes 0 to {max(numbers)}, but X has {width} columns and there are "
            "no values. If these nodes are latent, pass what do() set as values; if the columns of "
            f"X are the nodes, pass node_names, one for each of the {width}"
        )
    for name in names:
        if name not in (features or ()):
            near = hint(name, features or ())
            raise wrong(
                f"targets: {name!r} is not the name of a column of X"
                + (near or "; if it is a latent node, pass what do() set as values")
            )
    return Nodes(width, features)


def _agree(x: X, mask: Mask, values: Floats | None, names: Names | None) -> None:
    for argument, array in (("targets", mask), ("values", values)):
        if array is not None and len(array) != len(x):
            raise wrong(f"{argument}: has {len(array)} rows but X has {len(x)}; they must match")
    if values is not None and values.shape != mask.shape:
        raise wrong(
            f"values: has {values.shape[1]} columns but targets has {mask.shape[1]}; they must "
            "match"
        )
    if names is not None and len(names) != mask.shape[1]:
        raise wrong(f"node_names: there are {len(names)} for {mask.shape[1]} nodes; give each one")
