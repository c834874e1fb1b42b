"""LatentSCM: from arrays to a posterior over causal models, as an estimator of scikit-learn."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Self, overload

import numpy as np

from . import _core
from ._arguments import naming_arguments, read_x
from ._dataset import Dataset, Path
from ._do_columns import has_do_columns, read_do_columns
from ._feature_names import check_feature_names
from ._frames import choose, is_anndata
from ._nodes import Edges, Floats, Node, Tiers
from ._numbers import column_names
from ._output import Output
from ._parameters import Parameters
from ._problems import FitWarning, wrong, wrong_type
from ._progress import Progress, reporting
from ._results import Results
from ._run import Run, warn_outside
from ._score import r2_under_do
from ._show import figure, preformatted

_SETTINGS = tuple(str(row["name"]) for row in _core.settings("fit"))
_KNOWLEDGE = {"forbid": "forbid", "require": "require", "tiers": "tiers", "order_given": "order"}


class LatentSCM(Parameters, Results, Output):
    """Causal variables behind the data, the graph between them, weights and noise.

    Interventions label the causal variables: the values that do() set. So they can be read off x,
    be it vectors or pictures, linear in them or not, and given them the posterior over graphs is
    exact up to 20 nodes and sampled beyond. Without arguments everything is chosen, and `summary()`
    says what and why. The same settings give the same numbers as `lscm fit`, bit for bit.

    Parameters
    ----------
    method : {"auto", "anchored", "biols", "vae", "graphvae"}
        Estimator; auto is anchored, which chooses the rest and says why.
    order : {"learned", "given"} or list of nodes
        Learn the causal order, take the one stored with the data, or this one, causes first.
    decoder : {"auto", "linear", "mlp", "image", "identity"}
        From causal variables to x; identity: x are the variables themselves.
    draws : int
        Posterior draws to keep.
    seed : int
        Of every random number.
    noise : {"auto", "equal", "unequal"}
        One noise scale for all nodes, or one for each.
    mechanism : {"auto", "linear", "additive", "joint"}
        Effects of causes are straight, add up as curves, or may act together; auto weighs all of
        these where the rows speak for bends.
    noise_law : {"auto", "gaussian", "student", "mixture"}
        Law of the noise of mechanisms; auto is normal unless residuals have heavy tails.
    x_noise : float
        Sd of the noise of x; 0 learns it.
    degree : float
        Expected edges per node, for the sparsity prior; 0 chooses.
    ridge, graph_prior, clip, encoder, width, candidates, chains, holdout
        Of the method anchored: weight of the prior in rows; {"order", "uniform"}; z is clipped at
        +-clip (0 finds out); {"auto", "kernel", "network", "conv"}; width of the network; candidate
        parents and chains beyond 20 nodes; share of the intervention sets held out to judge the fit.
    steps, samples, rate, optimiser, batch, expectation, objective, temperature, \
final_temperature, permanent, restarts, full_run
        Of methods that learn by steps, biols above all: see `lscm fit --help`; 0 chooses.
    checkpoint : float
        Seconds between checkpoints in `folder`; 0 for none.
    trace : int
        Steps between rows of trace.csv in `folder`.
    device : {"auto", "cpu", "cuda", "cuda:0", "cuda:1", ...}
        What networks run on, here and in `transform`; auto: the first CUDA device, or the CPU.
    forbid, require : list of edges, optional
        Edges that must not and that must be there: ("raf", "mek"), "raf->mek", or a (d, d) matrix.
    tiers : list of lists of nodes, optional
        A node of a later tier never causes one of an earlier; nodes in no tier are free.
    folder : path, optional
        The run folder: trace, checkpoints, and the run in the end, as `lscm fit --out` leaves it.
        Without it everything stays in memory.
    threads : int
        Threads to use; 0 for one per core. Results do not depend on it.
    progress : None, True or a function of (what, done, total)
        True: a bar (of tqdm, where it is installed). A function that returns False stops the fit.

    Attributes
    ----------
    edge_probabilities_ : array (d, d)
        Posterior probability of each edge, row = parent.
    weights_, sigma_, intercept_, order_ : arrays (draws, d, d) and (draws, d)
        The draws: z_i = intercept_i + sum_j weights[j, i] z_j + N(0, sigma_i^2); causes first.
        Where mechanisms bend, curves are in the place of the sum, and weights average slopes.
    curves_ : list of Curve
        Where mechanisms bend: effects of likely edges by the value of the cause.
    latents_, latents_sd_ : arrays (N, d)
        Causal variables of the rows that were fitted: posterior mean and sd.
    diagnostics_ : Diagnostics
        How far to trust it: r_hat, ess, warnings, held_out_r2, held_out_coverage_90, ...
    edges_ : pandas.DataFrame
        All pairs, the likeliest edge first: parent, child, probability, mean, sd, q05, q95.
    node_names_ : tuple of str or None
        Names of the causal variables.
    run_ : Run
        All of it, with what else can be asked: `distance`, `export`, `decode`, ...
    n_features_in_, feature_names_in_
        Features of x, and their names where X was a DataFrame.

    Examples
    --------
    >>> import lscm
    >>> data = lscm.simulate("revised-linear", nodes=3, features=8, sets=12, seed=1)
    >>> model = lscm.LatentSCM(seed=1).fit(data.x, data.targets, data.values)
    >>> model
    LatentSCM(seed=1)
    >>> model.edge_probabilities_.shape, model.weights_.shape
    ((3, 3), (1000, 3, 3))
    >>> (model.edge_probabilities_ > 0.5).tolist() == (data.w != 0).tolist()
    True
    >>> model.sample(do={2: 1.5}, n=100).z[:, 2].tolist() == [1.5] * 100
    True
    """

    def __init__(
        self,
        method: str = "auto",
        order: str | Sequence[Node] = "learned",
        decoder: str = "auto",
        draws: int = 1000,
        seed: int = 0,
        *,
        noise: str = "auto",
        mechanism: str = "auto",
        noise_law: str = "auto",
        x_noise: float = 0.0,
        degree: float = 0.0,
        ridge: float = 0.0,
        graph_prior: str = "order",
        clip: float = 0.0,
        encoder: str = "auto",
        width: int = 0,
        candidates: int = 0,
        chains: int = 0,
        holdout: float = 0.2,
        steps: int = 0,
        samples: int = 0,
        rate: float = 0.0,
        optimiser: str = "adabelief",
        batch: int = 0,
        expectation: str = "closed",
        objective: str = "elbo",
        temperature: float = 0.2,
        final_temperature: float = 0.0,
        permanent: str = "bethe",
        restarts: int = 0,
        full_run: bool = False,
        checkpoint: float = 30.0,
        trace: int = 100,
        device: str = "auto",
        forbid: Edges | None = None,
        require: Edges | None = None,
        tiers: Tiers | None = None,
        folder: Path | None = None,
        threads: int = 0,
        progress: Progress = None,
    ) -> None:
        self.method = method
        self.order = order
        self.decoder = decoder
        self.draws = draws
        self.seed = seed
        self.noise = noise
        self.mechanism = mechanism
        self.noise_law = noise_law
        self.x_noise = x_noise
        self.degree = degree
        self.ridge = ridge
        self.graph_prior = graph_prior
        self.clip = clip
        self.encoder = encoder
        self.width = width
        self.candidates = candidates
        self.chains = chains
        self.holdout = holdout
        self.steps = steps
        self.samples = samples
        self.rate = rate
        self.optimiser = optimiser
        self.batch = batch
        self.expectation = expectation
        self.objective = objective
        self.temperature = temperature
        self.final_temperature = final_temperature
        self.permanent = permanent
        self.restarts = restarts
        self.full_run = full_run
        self.checkpoint = checkpoint
        self.trace = trace
        self.device = device
        self.forbid = forbid
        self.require = require
        self.tiers = tiers
        self.folder = folder
        self.threads = threads
        self.progress = progress

    # ---- fitting ----

    def fit(
        self,
        X: object,
        targets: object = None,
        values: object = None,
        *,
        node_names: Sequence[str] | None = None,
        target_column: str | None = None,
        value_column: str | None = None,
        control: str | Sequence[str] | None = None,
        resume: bool = False,
        force: bool = False,
    ) -> Self:
        """Fits the model. What to know before believing it comes as warnings (lscm.FitWarning).

        Parameters
        ----------
        X : array (N, D), pictures (N, H, W) or (N, H, W, C), DataFrame, AnnData, or Dataset
            What was seen. A Dataset, as of `lscm.open`, brings targets and values with it; so does
            an AnnData, in its obs, as its file would.
        targets : array (N, d) of zeros and ones, or a list of target sets
            Which nodes do() set in each row. Target sets are lists of nodes, by number or name, []
            for none; or {node: value} at once.
        values : array (N, d), or a list aligned with the target sets, optional
            What they were set to; only read at targets. Without it the variables are observed: they
            are the columns of X.
        node_names : list of str, optional
            Names of the nodes; else the names of the columns of targets, where it is a DataFrame.
        target_column, value_column : str, optional
            Instead of targets and values: columns of the DataFrame X (of obs, where it is an
            AnnData) that name the targets of do(), several joined by ';', '+', ',' or '|', and what
            it set them to, joined likewise. Without values the targets are columns of X. Columns
            called target and value need not be named, nor those called do:NAME, one for each latent
            node: what it was set to, NaN where it was not.
        control : list of str, optional
            Words in the target column for no target, in any case; else control, ctrl, NT, DMSO, ...
        resume : bool
            Continue from the checkpoint in `folder`, bit for bit.
        force : bool
            Replace the run in `folder`.
        """
        if isinstance(X, Dataset):
            said = (targets, values, node_names, target_column, value_column, control)
            if any(argument is not None for argument in said):
                raise wrong_type("targets: X is a Dataset, which has its targets and values")
            if X.nodes == 0:
                raise wrong("targets: the data set has x alone; a fit needs to know what do() set")
            data, feature_names = X, X.feature_names
        else:
            data = Dataset(
                X,
                targets,
                values,
                node_names=node_names,
                target_column=target_column,
                value_column=value_column,
                control=control,
            )
            if data.nodes == 0:
                _required(targets)
            feature_names = data.feature_names
        run = self._fit(data, resume=resume, force=force)
        self.run_ = run
        self.n_features_in_ = data.features
        self._keep_feature_names(feature_names)
        for sentence in run.diagnostics.warnings:
            warnings.warn(sentence, FitWarning, stacklevel=2)
        return self

    def _fit(self, data: Dataset, *, resume: bool, force: bool) -> Run:
        nodes = data._nodes()
        given = {name: getattr(self, name) for name in _SETTINGS}
        order = None
        if not isinstance(self.order, str):
            order, given["order"] = nodes.order(self.order), "given"
        settings = {name: _setting(name, value) for name, value in given.items()}
        folder = None if self.folder is None else os.fspath(self.folder)
        with (
            reporting(self.progress) as report,
            naming_arguments(data._core.check),
            _checkpoint_note(folder),
        ):
            posterior = _core.fit(
                data._core,
                settings,
                folder=folder,
                order=order,
                force=force,
                resume=resume,
                forbidden=nodes.edges(self.forbid, "forbid"),
                required=nodes.edges(self.require, "require"),
                tiers=nodes.tiers(self.tiers),
                threads=int(self.threads),
                progress=report,
                **data._opened,
            )
        run = Run(posterior, folder)
        if folder is not None:
            _write_report(run, data, folder, int(self.threads))
        return run

    def fit_transform(
        self, X: object, targets: object = None, values: object = None, **options: Any
    ) -> Any:
        """fit(X, targets, values), then transform(X): every node read off x.

        `latents_` are the causal variables given what do() set, too.
        """
        z_of = self.fit(X, targets, values, **options)._read_off
        if targets is None and not isinstance(X, Dataset):  # a table: its other columns are no x
            return self._as_asked(z_of(choose(X, list(self.feature_names_in_)), None, None)[0], X)
        return self._as_asked(z_of(X, None, None)[0], X)

    def _keep_feature_names(self, names: Sequence[str] | None) -> None:
        if names is not None:
            self.feature_names_in_ = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    # ---- new data ----

    @overload
    def transform(
        self, X: object, targets: object = ..., values: object = ..., *, return_sd: Literal[True]
    ) -> tuple[Floats, Floats]: ...

    @overload
    def transform(
        self,
        X: object,
        targets: object = ...,
        values: object = ...,
        *,
        return_sd: Literal[False] = ...,
    ) -> Floats: ...

    def transform(
        self,
        X: object,
        targets: object = None,
        values: object = None,
        *,
        return_sd: bool = False,
    ) -> Floats | tuple[Floats, Floats]:
        """Causal variables z (N, d) of new rows; with return_sd also their standard deviation.

        With targets and values, z is what do() set there. Rows outside the values that do() set
        when the model was fitted are counted in a warning (lscm.OutsideWarning). Runs of the
        methods biols, vae and graphvae have no encoder and cannot do this.
        """
        z, sd = (self._as_asked(part, X) for part in self._read_off(X, targets, values))
        return (z, sd) if return_sd else z

    def score(self, X: object, targets: object = None, values: object = None) -> float:
        """R2 of x as predicted from what do() set alone: 1 is perfect, 0 no better than the mean.

        x is predicted by its mean under do() over the posterior; rows that were not fitted say
        most. Of vectors it is the mean over the columns, of observed variables over those that
        do() did not set, of pictures that of all pixels together. Settings may be compared by it,
        as GridSearchCV does: pass it targets as {node: value} for each row, since it knows of no
        values.
        """
        run = self._run()
        if not isinstance(X, Dataset) and not has_do_columns(X):
            _required(targets)
        data = X if isinstance(X, Dataset) else self._new_data(X, targets, values)
        return r2_under_do(run, data)

    def _read_off(self, X: object, targets: object, values: object) -> tuple[Floats, Floats]:
        run = self._run()
        data = X if isinstance(X, Dataset) else self._new_data(X, targets, values)
        z, sd, outside = run._transform(data, self.progress, self.device, int(self.threads))
        warn_outside(outside, data.rows, stacklevel=4)
        return z, sd

    def _new_data(self, X: object, targets: object, values: object) -> Dataset:
        run = self._run()
        labels = run.node_names or tuple(str(i) for i in range(run.nodes))
        if targets is None and has_do_columns(X):
            X, targets, values, *_ = read_do_columns(X, labels)
        fitted = getattr(self, "feature_names_in_", None)
        if is_anndata(X) and fitted is not None and set(fitted) <= set(X.var_names):  # type: ignore[attr-defined]
            X = choose(X, list(fitted))
        x, columns = read_x(X)
        check_feature_names(type(self).__name__, fitted, columns)
        if x[0].size != self.n_features_in_:
            raise wrong(
                f"X has {x[0].size} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        try:  # target sets by number do not say how many nodes there are
            return Dataset(x, targets, values, node_names=None if targets is None else labels)
        except _core.ValueProblem as problem:
            if "there is no node" in str(problem):
                problem.args = (
                    f"{problem}; no row that was fitted set it: where folds leave nodes out, "
                    "shuffle the rows, as by cv=KFold(5, shuffle=True)",
                )
            raise

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            return preformatted(repr(self))
        return figure(repr(self), self.run_.draw(), self.summary()._repr_html_())

    # ---- run folders ----

    @classmethod
    def load(cls, folder: Path) -> Self:
        """A fitted model from a run folder of `save`, of fit(folder=...) or of `lscm fit`.

        Its parameters are the settings of the run as they were given or chosen. Names of the
        columns of X are not among what a run keeps.
        """
        run = Run.open(folder)
        config = run.config
        kept = {**{name: name for name in _SETTINGS}, **_KNOWLEDGE}
        model = cls(**{kept[key]: value for key, value in config.items() if key in kept})
        model.run_ = run
        model.n_features_in_ = int(np.prod(run.x_shape))
        return model


def _required(targets: object) -> object:
    if targets is None:
        raise wrong_type(
            "targets: is missing; say for each row which nodes do() set, as rows x nodes of zeros "
            "and ones or as a list of target sets"
        )
    return targets


def _setting(name: str, value: object) -> str | int | float | bool:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (str, int, float)):
        return value
    raise wrong_type(f"{name}: is {value!r}; give a text or a number")


@contextlib.contextmanager
def _checkpoint_note(folder: str | None) -> Iterator[None]:
    """Whoever stops a fit is told how to go on."""
    try:
        yield
    except BaseException as problem:
        if folder is not None and os.path.isfile(os.path.join(folder, "checkpoint")):
            problem.add_note(f"{folder} has a checkpoint: fit(..., resume=True) continues from it")
        raise


def _write_report(run: Run, data: Dataset, folder: str, threads: int) -> None:
    """report.html beside the rest, as `lscm fit` does. A run without it is still a run."""
    try:
        page = os.path.join(folder, "report.html")
        run.report(page, truth=data, force=True, threads=threads)
    except _core.Error as why:
        warnings.warn(f"the run is whole, but has no report: {why}", RuntimeWarning, stacklevel=4)
