"""Figures by matplotlib, which is not needed for the rest: the graph, an effect, the causal
variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._layout import layout
from ._nodes import Floats, Node
from ._problems import package, wrong

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._curves import Curve
    from ._run import Run

_BLUE, _ORANGE, _INK, _PALE = "#2b6cb0", "#c05621", "#1a202c", "#edf2f7"
_STEPS, _ROWS = 15, 2000  # of the response: values of do(), rows of each
_MOST_LATENTS, _MOST_POINTS = 6, 2000


def _pyplot(what: str) -> Any:
    return package("matplotlib.pyplot", what)


# ---- The graph -----------------------------------------------------------------------------------


def plot_graph(run: Run, threshold: float, ax: Axes | None) -> Axes:
    pyplot = _pyplot("plot_graph()")
    likely = run.edge_probabilities > threshold
    names = [str(label) for label in run._nodes().labels]
    unit = np.array([max(1.0, 0.13 * max(map(len, names)) + 0.5), 1.0])  # room for names, in inches
    placed = layout(likely)
    points = np.vstack([placed.nodes, *placed.edges.values()]) * unit
    margin = unit * (0.6, 0.35)
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    if ax is None:
        size = np.clip(high - low + (0, 0.4), 1.5, 14)
        _, ax = pyplot.subplots(figsize=tuple(size), layout="constrained")
    _draw_nodes(ax, placed.nodes * unit, names)
    mean = run.weights.mean(axis=0)
    for (j, i), way in placed.edges.items():
        room = np.array([0.3 * unit[0], 0.2])
        _draw_edge(ax, way * unit, room, float(run.edge_probabilities[j, i]), float(mean[j, i]))
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    words = "average slopes" if run._core.any_bends else "mean weights"
    none = f"{words} of edges" if likely.any() else "no edge"
    ax.set_title(f"{none} over {threshold:g}", fontsize=10, color=_INK)
    ax.axis("off")
    return ax


def _draw_nodes(ax: Axes, at: Floats, names: Sequence[str]) -> None:
    box = {"boxstyle": "round,pad=0.45,rounding_size=0.8", "fc": _PALE, "ec": _INK, "lw": 1}
    for (x, y), name in zip(at, names, strict=True):
        ax.text(x, y, name, ha="center", va="center", fontsize=11, color=_INK, bbox=box, zorder=3)


def _draw_edge(ax: Axes, way: Floats, room: Floats, p: float, mean: float) -> None:
    """Width is probability, colour is sign, dashes are doubt; `room` is half a node."""
    patches, path = package("matplotlib.patches", "plot_graph()"), package("matplotlib.path", "")
    colour = _BLUE if mean >= 0 else _ORANGE
    points, codes = _curve(way, room)
    arrow = patches.FancyArrowPatch(
        path=path.Path(points, codes),
        arrowstyle="-|>,head_width=3,head_length=5.5",
        color=colour,
        lw=0.6 + 1.6 * p,
        ls="-" if p > 0.9 else (0, (4, 2)),
        zorder=1,
    )
    ax.add_patch(arrow)
    middle = len(way) // 2
    at = way[middle] if len(way) % 2 else (way[middle - 1] + way[middle]) / 2
    weight = f"{mean:+.2f}".replace("-", "\N{MINUS SIGN}")
    label = weight if p > 0.95 else f"{weight}\np {p:.2f}"
    back = {"fc": "white", "ec": "none", "alpha": 0.8, "pad": 0.6}
    x, y = at
    ax.text(x, y, label, fontsize=8, color=colour, ha="center", va="center", bbox=back, zorder=2)


def _curve(way: Floats, room: Floats) -> tuple[Floats, list[int]]:
    """A Bezier spline through the points, upright at the stops, that ends short of the nodes."""
    begin, end = _rim(way[0], way[1], room), _rim(way[-1], way[-2], room)
    stops = np.vstack([begin, way[1:-1], end])
    if len(stops) == 2:
        return stops, [1, 2]  # MOVETO, LINETO
    points = [stops[0]]
    for a, b in zip(stops[:-1], stops[1:], strict=True):
        half = np.array([0, (b - a)[1] / 2])
        first = a + half if a is not stops[0] else a + (b - a) / 3
        last = b - half if b is not stops[-1] else b - (b - a) / 3
        points += [first, last, b]
    return np.array(points), [1] + [4] * (len(points) - 1)  # CURVE4


def _rim(node: Floats, towards: Floats, room: Floats) -> Floats:
    """Where the way from a node leaves the ellipse around it."""
    way = towards - node
    return node + way / max(float(np.hypot(*(way / room))), 1.0)


# ---- An effect -----------------------------------------------------------------------------------


def plot_effect(run: Run, parent: Node, child: Node, axes: Sequence[Axes] | None) -> Any:
    pyplot = _pyplot("plot_effect()")
    nodes = run._nodes()
    j, i = nodes.find(parent, "parent"), nodes.find(child, "child")
    if i == j:
        raise wrong(f"child: is {child!r}, the parent itself; an effect is on another node")
    names = str(nodes.labels[j]), str(nodes.labels[i])
    if axes is None:
        _, axes = pyplot.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
    elif len(axes) != 2:
        raise wrong(f"axes: are {len(axes)}; give two, for the weight and for the response")
    word = "average slope" if run._core.bends(j, i) > 0 else "weight"
    _weight(axes[0], run.weights[:, j, i], float(run.edge_probabilities[j, i]), names, word)
    _response(axes[1], run, j, i, names)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return axes


def _weight(ax: Axes, draws: Floats, p: float, names: tuple[str, str], word: str) -> None:
    """The density of the weight where there is an edge; its area is the probability of that."""
    there = draws[draws != 0]
    if there.size:
        share = np.full(there.size, 1 / draws.size)
        bins = int(np.clip(np.sqrt(there.size), 5, 40))
        heights, edges = np.histogram(there, bins, weights=share)
        widths = np.diff(edges)
        colour = _BLUE if there.mean() >= 0 else _ORANGE
        ax.bar(edges[:-1], heights / widths, widths, align="edge", color=colour, alpha=0.75)
    ax.axvline(0, color=_INK, lw=0.8, ls=":")
    ax.set(xlabel=f"{word} of {names[0]} → {names[1]}", ylabel="density", yticks=[])
    ax.set_title(f"probability of the edge: {p:.2f}", fontsize=10)


def _response(ax: Axes, run: Run, j: int, i: int, names: tuple[str, str]) -> None:
    """The child under do(parent = v), mean and 90% band, over where the parent was in the data."""
    low, high = np.quantile(run.latents[:, j], (0.02, 0.98))
    grid = np.linspace(low, high, _STEPS)
    seen = [run.sample({j: float(v)}, _ROWS).bands("z") for v in grid]
    lower, mean, upper = (
        np.array([getattr(band, part)[i] for band in seen]) for part in ("lower", "mean", "upper")
    )
    ax.fill_between(grid, lower, upper, color=_BLUE, alpha=0.18, lw=0, label="90% of rows")
    ax.plot(grid, mean, color=_BLUE, lw=2, label="mean")
    ax.set(xlabel=f"do({names[0]})", ylabel=names[1])
    ax.set_title(f"{names[1]} as it would be seen", fontsize=10)
    ax.legend(frameon=False, fontsize=8)


# ---- An effect as a curve ------------------------------------------------------------------------


def plot_curve(run: Run, parent: Node, child: Node, ax: Axes | None) -> Axes:
    pyplot = _pyplot("plot_curve()")
    curve = run.curve(parent, child)
    if ax is None:
        _, ax = pyplot.subplots(figsize=(4.2, 3.2), layout="constrained")
    slope = run.weights[:, run._nodes().find(parent, "parent"), run._nodes().find(child, "child")]
    colour = _BLUE if slope.mean() >= 0 else _ORANGE
    low, high = curve.seen
    slack = 1e-9 * (high - low)  # ends are in both pieces
    inside = (curve.at >= low - slack) & (curve.at <= high + slack)
    for part in (curve.at <= low + slack, curve.at >= high - slack):
        _piece(ax, curve, part, colour, 0.1, "--")
    _piece(ax, curve, inside, colour, 0.25, "-")
    ax.axhline(0, color=_INK, lw=0.8, ls=":")
    bar = {"transform": ax.get_xaxis_transform(), "solid_capstyle": "butt", "clip_on": False}
    ax.plot([low, high], [0, 0], color=colour, alpha=0.5, lw=5, **bar)
    ax.set(xlabel=str(curve.parent), ylabel=f"effect on {curve.child}", xlim=curve.at[[0, -1]])
    ax.set_title(_said(curve), fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _piece(ax: Axes, curve: Curve, part: Any, colour: str, alpha: float, style: str) -> None:
    at = curve.at[part]
    ax.fill_between(at, curve.lower[part], curve.upper[part], color=colour, alpha=alpha, lw=0)
    ax.plot(at, curve.mean[part], color=colour, lw=2 if style == "-" else 1.3, ls=style)


def _said(curve: Curve) -> str:
    bends = f"bends in {curve.bends:.0%} of draws" if curve.bends > 0 else "straight"
    return f"probability of the edge: {curve.probability:.2f}; {bends}"


# ---- Causal variables ----------------------------------------------------------------------------


def plot_latents(run: Run, nodes: Sequence[Node] | None) -> Any:
    pyplot = _pyplot("plot_latents()")
    known = run._nodes()
    chosen = list(nodes) if nodes is not None else list(known.labels[:_MOST_LATENTS])
    found = [known.find(node, "nodes") for node in chosen]
    if not found:
        raise wrong("nodes: list at least one")
    names, d = [str(known.labels[i]) for i in found], len(found)
    some = np.unique(np.linspace(0, run.rows - 1, min(run.rows, _MOST_POINTS)).astype(int))
    z = run.latents[some][:, found]
    size = max(3.0, 1.7 * d)
    figure, axes = pyplot.subplots(d, d, figsize=(size, size), squeeze=False, layout="constrained")
    for row, col in np.ndindex(d, d):
        ax = axes[row, col]
        _pair(ax, z[:, col], z[:, row], row == col)
        if col > row:
            ax.set_visible(False)
        ax.set_xlabel(names[col] if row == d - 1 else "")
        ax.set_ylabel(names[row] if col == 0 and row > 0 else "")
        ax.tick_params(labelbottom=row == d - 1, labelleft=col == 0 and row > 0, labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"causal variables of {len(some)} rows", fontsize=10)
    return axes


def _pair(ax: Axes, across: Floats, up: Floats, same: bool) -> None:
    if same:
        ax.hist(across, bins=30, color=_BLUE, alpha=0.75)
        ax.set_yticks([])
    else:
        ax.scatter(across, up, s=5, color=_INK, alpha=0.35, lw=0)
