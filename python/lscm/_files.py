"""lscm.open: whatever is there under a name."""

from __future__ import annotations

from collections.abc import Sequence

from ._dataset import Dataset, Path
from ._problems import wrong
from ._run import Run, is_run


def open_path(
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
) -> Dataset | Run:
    """Opens a data file of any format, or a run folder.

    Formats follow the ending, as on the command line: .nc (netCDF-4), .npz, .csv and .tsv (tables,
    also packed: .csv.gz, .tsv.gz), .parquet and .feather (the same, by pyarrow), .h5ad
    (AnnData), a folder of PNG or JPEG pictures with interventions.csv, or a folder in the layout of
    the public BIOLS code. Of a file little is read before it is asked for. What was understood that
    is worth a look comes as a warning (lscm.ReadWarning), and is `Dataset.note`.

    Parameters
    ----------
    path : str or path
        What to open. `Dataset.open` and `Run.open` take one kind each.
    ignore : list of str, optional
        Columns of a table that are no variables.
    truth : path, optional
        A CSV matrix of the true graph, row = parent.
    names : list of str, optional
        Names of the nodes, where the file has none.
    target_column, value_column : str, optional
        Columns of a table that name the targets of do(), and, for latent nodes, the values it set;
        else those called target and value. "none": there is no such column.
    control : list of str, optional
        Words in the target column for no target, in any case; else control, ctrl, NT, DMSO, ...
    layer : str, optional
        The layer of an .h5ad file that is x, instead of its X.
    truth_only : bool
        The truth will do: x may be missing, and a CSV is the graph.
    x_only : bool
        x will do, be it one row: targets may be missing.

    Examples
    --------
    >>> import lscm
    >>> lscm.simulate(nodes=3, features=5, sets=6, per_set=10, seed=1).save("three.npz")
    >>> lscm.open("three.npz", names=["raf", "mek", "erk"]).node_names
    ('raf', 'mek', 'erk')
    """
    options = {
        "ignore": ignore,
        "truth": truth,
        "names": names,
        "target_column": target_column,
        "value_column": value_column,
        "control": control,
        "layer": layer,
    }
    if is_run(path):
        given = any(option is not None for option in options.values())
        if given or truth_only or x_only:
            raise wrong(f"ignore, truth, names and the like are for data files; {path} is a run")
        return Run.open(path)
    data = Dataset._read(path, options, truth_only=truth_only, x_only=x_only)
    data._tell_note(path, stacklevel=3)
    return data
