"""Data sets: x, what do() did in each row, and the truth where it is known; from files of every
format of the command line, from arrays, or from the simulator."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from . import _core, _tables
from ._anndata import LAYER, written
from ._arrow import Folder, readable
from ._arguments import naming_arguments, read_arguments, read_names, read_x
from ._do_columns import has_do_columns
from ._drawing import drawn_graph
from ._frames import is_anndata
from ._nodes import Floats, Nodes
from ._numbers import numbers
from ._problems import ReadWarning, wrong, wrong_type
from ._progress import Progress, reporting
from ._table import read_table

if TYPE_CHECKING:
    import pandas

Path: TypeAlias = "str | os.PathLike[str]"
Array: TypeAlias = npt.NDArray[Any]

Field: TypeAlias = Literal["x", "targets", "values", "z", "w", "sigma", "order"]
_BLOCK = 1 << 20  # numbers of x that are read at a time


class Band(NamedTuple):
    """What rows are like, column by column: mean, sd, and the 5%, 50% and 95% quantiles."""

    mean: Floats
    sd: Floats
    lower: Floats
    median: Floats
    upper: Floats


class Dataset:
    """Rows of x, the interventions under which each was taken, and the truth where it is known.

    Made from arrays here, from files by `lscm.open`, and by `lscm.simulate`. The arrays are read
    when they are first asked for, and kept; what a data set does not have is None. Arrays that it
    was made from stay where they are, and must not be changed while it is in use.

    Parameters
    ----------
    X, targets, values, node_names
        As in `LatentSCM.fit`. Without targets it is x alone, to be transformed or saved.
    target_column, value_column, control
        Which columns of a DataFrame X, or of obs of an AnnData, say what do() did, as in
        `LatentSCM.fit`.
    z, w, sigma
        The truth: causal variables (N, d), edge weights (d, d) with row = parent, and the sd of
        each node's noise (d).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(12.0).reshape(4, 3)
    >>> data = Dataset(x, [[], ["mek"], ["raf"], []], [[], [2.0], [1.5], []])
    >>> data
    Dataset in memory: 4 rows, 2 nodes, 3 features; x float64, targets uint8, values float64
    >>> data.node_names
    ('mek', 'raf')
    >>> data.x is x
    True
    """

    _folder: Folder | None = None  # of a copy that is read as long as the data set is there

    def __init__(
        self,
        X: object,
        targets: object = None,
        values: object = None,
        *,
        z: npt.ArrayLike | None = None,
        w: npt.ArrayLike | None = None,
        sigma: npt.ArrayLike | None = None,
        node_names: Sequence[str] | None = None,
        target_column: str | None = None,
        value_column: str | None = None,
        control: str | Sequence[str] | None = None,
    ) -> None:
        if targets is None and is_anndata(X):
            options = {
                "names": node_names,
                "target_column": target_column,
                "value_column": value_column,
                "control": control,
            }
            self._take_cells(X, options, {"values": values, "z": z, "w": w, "sigma": sigma})
            return
        if targets is None:
            table = read_table(X, target_column, value_column, control)
            X, targets = table.x, table.targets
            values = table.values if values is None else values
            node_names = table.node_names if node_names is None else node_names
            z = table.z if z is None else z
        elif target_column is not None or value_column is not None or control is not None:
            raise wrong_type("target_column: targets are given, too; pass one of them")
        elif has_do_columns(X):
            raise wrong(
                "targets: X has columns 'do:NAME', which say what do() set, too; leave one out"
            )
        self._arrays: dict[str, Array | None] = {}
        self._opened: dict[str, str | None] = {}
        truth = {
            name: None if array is None else numbers(array, name)
            for name, array in (("z", z), ("w", w), ("sigma", sigma))
        }
        if targets is None:
            x, features = read_x(X)
            kept: dict[str, Array | None] = {"x": x}
            names = read_names(node_names)
        else:
            given = read_arguments(X, targets, values, node_names)
            x, features, names = given.x, given.feature_names, given.node_names
            kept = {"x": x, "targets": given.targets, "values": given.values}
        with naming_arguments():
            self._core = _core.wrap(
                x,
                kept.get("targets"),
                kept.get("values"),
                node_names=names,
                feature_names=features,
                **truth,
            )
        self._arrays.update(kept)

    def _take_cells(self, cells: Any, options: dict[str, Any], others: dict[str, Any]) -> None:
        """An AnnData whose obs says what do() did."""
        for name, array in others.items():
            if array is not None:
                raise wrong_type(f"{name}: goes with targets; without them, X is a whole AnnData")
        self._arrays = {}
        self._opened = {name: _as_text(option) for name, option in options.items()}
        columns = options["target_column"], options["value_column"]
        with written(cells, *columns) as (path, self._folder):
            self._core = _core.open(path, **self._opened, layer=LAYER)
        self._core.set_path("memory")

    @classmethod
    def _of(cls, core: _core.Dataset, opened: dict[str, str | None] | None = None) -> Dataset:
        data = cls.__new__(cls)
        data._core, data._arrays, data._opened = core, {}, opened or {}
        return data

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        ignore: str | Sequence[str] | None = None,
        truth: Path | None = None,
        names: str | Sequence[str] | None = None,
        target_column: str | None = None,
        value_column: str | None = None,
        control: str | Sequence[str] | None = None,
        layer: str | None = None,
        truth_only: bool = False,
        x_only: bool = False,
    ) -> Dataset:
        """A file or folder of any format; see `lscm.open`."""
        options = {
            "ignore": ignore,
            "truth": truth,
            "names": names,
            "target_column": target_column,
            "value_column": value_column,
            "control": control,
            "layer": layer,
        }
        data = cls._read(path, options, truth_only=truth_only, x_only=x_only)
        data._tell_note(path, stacklevel=3)
        return data

    @classmethod
    def _read(
        cls,
        path: Path,
        options: dict[str, Any],
        *,
        truth_only: bool = False,
        x_only: bool = False,
    ) -> Dataset:
        """`open` without a word."""
        opened = {name: _as_text(option) for name, option in options.items()}
        given = os.fspath(path)
        with readable(given) as (file, folder):
            core = _core.open(file, **opened, truth_only=truth_only, x_only=x_only)
        if folder is not None:
            core.set_path(given)
        data = cls._of(core, opened)
        data._folder = folder
        return data

    def _tell_note(self, path: Path, stacklevel: int) -> None:
        if self.note is not None:
            warnings.warn(f"{os.fspath(path)}: {self.note}", ReadWarning, stacklevel=stacklevel)

    # ---- what it holds ----

    @property
    def rows(self) -> int:
        """Samples, N."""
        return self._core.rows

    @property
    def nodes(self) -> int:
        """Causal variables, d; 0 where only x is known."""
        return self._core.nodes

    @property
    def features(self) -> int:
        """Numbers in a row of x, D."""
        return self._core.features

    @property
    def format(self) -> str:
        """Where it comes from: "netCDF-4", "NPZ", "CSV", ..."""
        return self._core.format

    @property
    def recipe(self) -> dict[str, Any] | None:
        """How it was simulated: every setting and the seed."""
        text = self._core.recipe
        return None if text is None else json.loads(text)

    @property
    def note(self) -> str | None:
        """What was understood of its file that is worth a look, as that decimals have commas."""
        return self._core.note

    @property
    def node_names(self) -> tuple[str, ...] | None:
        """Names of the causal variables."""
        return self._core.node_names

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns of x."""
        return self._core.feature_names

    @property
    def x(self) -> Array | None:
        """What was seen: (N, D), or pictures (N, H, W) or (N, H, W, C)."""
        return self._field("x")

    @property
    def targets(self) -> Array | None:
        """1 where do() acted, (N, d)."""
        return self._field("targets")

    @property
    def values(self) -> Array | None:
        """What do() set there, (N, d)."""
        return self._field("values")

    @property
    def z(self) -> Array | None:
        """Causal variables (N, d): the truth, or what was sampled."""
        return self._field("z")

    @property
    def w(self) -> Array | None:
        """True edge weights (d, d): w[j, i] is the edge j -> i."""
        return self._field("w")

    @property
    def sigma(self) -> Array | None:
        """True sd of each node's noise, (d)."""
        return self._field("sigma")

    @property
    def order(self) -> Array | None:
        """A true causal order (d): the node at each position, causes first."""
        return self._field("order")

    def __len__(self) -> int:
        return self.rows

    def _field(self, field: Field) -> Array | None:
        if field not in self._arrays:
            shape = self._core.shape(field)
            array = None if shape is None else self.read(field)
            if array is not None:
                array.flags.writeable = False  # a copy of what the library has, not a way to it
            self._arrays[field] = array
        return self._arrays[field]

    def read(self, field: Field, first: int = 0, count: int | None = None) -> Array:
        """Rows [first, first + count) of x, targets, values, z, w, sigma or order, not kept.

        So a file may be larger than memory.
        """
        shape = self._core.shape(field)
        if shape is None:
            raise _core.MissingProblem(f"the data set has no {field!r}")
        dims, dtype = shape
        count = max(dims[0] - first, 0) if count is None else count
        out = np.empty((count, *dims[1:]), dtype)
        at_once = count if dtype == "float64" else max(_BLOCK // max(out[:1].size, 1), 1)
        for begin in range(0, count, max(at_once, 1)):
            part = out[begin : begin + at_once]
            block = part if dtype == "float64" else np.empty(part.shape)
            self._core.read(field, first + begin, part.shape[0], block)
            if block is not part:
                part[...] = block
        return out

    def check(self, progress: Progress = None) -> dict[str, Any]:
        """Reads every row and says what is there, as `lscm info` does; refuses what is broken.

        x_min, x_max, x_mean, x_sd; observational: rows without a target; sets: distinct target
        sets; per_node: rows in which each node is a target.
        """
        with reporting(progress) as report, naming_arguments():
            return self._core.check(report)

    def bands(self, field: Field) -> Band:
        """What the rows of x, values or z are like, column by column."""
        bands = self._core.bands(field)
        return Band(**{name: np.asarray(bands[name]) for name in Band._fields})

    # ---- what becomes of it ----

    def save(self, path: Path, *, force: bool = False, progress: Progress = None) -> None:
        """Writes it as its ending says: .nc, .npz, .csv, .tsv, .png (a grid), .pngs, or none (BIOLS).

        So `lscm.open("a.nc").save("b.npz")` converts, in blocks of rows. A file that exists is
        refused without `force`.
        """
        with reporting(progress) as report:
            self._core.save(os.fspath(path), force=force, progress=report)

    def save_graph(self, path: Path, *, force: bool = False) -> None:
        """Writes the true graph: .dot, .graphml, .json, or drawn by Graphviz: .svg, .pdf, .png."""
        if not drawn_graph(self._core.save_graph, os.fspath(path), force):
            self._core.save_graph(os.fspath(path), force=force)

    def to_pandas(self) -> pandas.DataFrame:
        """x and what do() did, as a CSV has it: "do:NODE" of each latent node, what it was set to,
        or NaN; "target" of observed variables, those that were set, joined by ";".

        `Dataset(frame)` and `LatentSCM.fit(frame)` take it back.
        """
        return _tables.rows_frame(self)

    def __repr__(self) -> str:
        shapes = {field: self._core.shape(field) for field in get_args(Field)}
        there = [f"{field} {shape[1]}" for field, shape in shapes.items() if shape is not None]
        where = "in memory" if self.format.lower() == "memory" else f"({self.format})"
        return (
            f"Dataset {where}: {self.rows} rows, {self.nodes} nodes, {self.features} features; "
            + ", ".join(there)
        )

    def _nodes(self) -> Nodes:
        return Nodes(self.nodes, self.node_names)


def simulate(preset: str = "paper-linear", **settings: str | int | float | bool) -> Dataset:
    """Data with a known causal model.

    Rows are made when they are asked for, by the same numbers as `lscm simulate` with the same
    settings: pure functions of the seed.

    Parameters
    ----------
    preset : str
        A published experiment: see `lscm.presets()`.
    **settings
        What to change of it: nodes, features, graph, degree, observational, sets, per_set, values,
        value_scale, noise, x_noise, projection, seed, ...; `lscm.settings("simulation")` has them
        all, and `lscm simulate --help` explains them.

    Examples
    --------
    >>> import lscm
    >>> data = lscm.simulate("revised-linear", nodes=3, features=8, sets=60, per_set=10, seed=1)
    >>> data.nodes, data.x.shape[1], data.w.shape, data.recipe["sets"]
    (3, 8, (3, 3), 60)
    >>> data.save("data.nc")                     # for `lscm fit data.nc`, or for later
    """
    return Dataset._of(_core.simulate(preset, dict(settings)))


def _as_text(option: str | os.PathLike[str] | Sequence[str] | None) -> str | None:
    """The library takes paths as texts, and lists of names as texts with commas."""
    if isinstance(option, os.PathLike):
        return os.fspath(option)
    return option if option is None or isinstance(option, str) else ",".join(option)
