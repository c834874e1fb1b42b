"""What a fit says of itself: summary.json as a dict, whose text is what `lscm fit` prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._nodes import Floats
from ._show import as_html, table

_MOST_EDGES, _MOST_NODES, _WORST_NODES = 12, 12, 8


class Summary(dict[str, Any]):
    """The summary of a run (docs/formats.md has its keys); printed, it is for people.

    `edges` are the likely ones, as (parent, child, probability), the likeliest first; `undirected`
    those of which nothing in the data tells which end is the cause, as (a, b, probability).
    """

    def __init__(
        self, summary: dict[str, Any], labels: list[str], edge_prob: Floats, draws: int
    ) -> None:
        super().__init__(summary)
        self._labels, self._draws = labels, draws
        pairs = summary.get("pairs", {}).get("undirected", [])
        either = np.minimum(edge_prob + edge_prob.T, 1)
        joined = [(labels[a], labels[b], float(either[a, b])) for a, b in pairs if either[a, b] > 0.5]
        told = np.ones(edge_prob.shape, bool)
        for a, b in pairs:
            told[a, b] = told[b, a] = False
        likely = (edge_prob > 0.5) & told
        self._causes = likely.sum(axis=0)
        ranked = sorted(np.argwhere(likely).tolist(), key=lambda edge: -edge_prob[edge[0], edge[1]])
        self.edges = [(labels[j], labels[i], float(edge_prob[j, i])) for j, i in ranked]
        self.undirected = sorted(joined, key=lambda edge: -edge[2])

    def _lines(self) -> list[str]:
        lines = [*self._method(), *self._edges(), *self._judgement(), *self._left_out()]
        lines += self._weak_anchors()
        return lines + [f"warning: {warning}" for warning in self.get("warnings", [])]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self._lines())

    def _method(self) -> list[str]:
        bound = f"; bound {self['bound']:.1f}" if self.get("bound") is not None else ""
        lines = [
            f"method {self['method']}, decoder {self['decoder']}; {self._count()} edges over 1/2 "
            f"between {len(self._labels)} nodes{bound} ({self['seconds']['total']:.1f} s)"
        ]
        if self.get("reason"):
            lines.append(f"why: {self['reason']}")
        if self.get("device"):
            without = f" ({self['device_reason']})" if self.get("device_reason") else ""
            lines.append(f"device: {self['device']}{without}")
        sampler = self.get("sampler")
        if sampler == "exact":
            lines.append(f"{self._draws} draws: exact, independent")
        elif sampler == "mcmc":
            lines.append(
                f"{self._draws} draws: graphs sampled by MCMC, R-hat {self['r_hat'] or 0:.2f}, "
                f"effective number {self['ess'] or 0:.0f}"
            )
        elif sampler is not None:
            together = "causal variables, graph and weights sampled together"
            lines.append(f"{self._draws} draws: {sampler}, {together}")
        return lines

    def _count(self) -> int:
        return len(self.edges) + len(self.undirected)

    def _edges(self) -> list[str]:
        both = [(f"{parent}->{child}", p) for parent, child, p in self.edges]
        both += [(f"{a} -- {b}", p) for a, b, p in self.undirected]
        ranked = sorted(both, key=lambda edge: -edge[1])
        shown = [f"{edge} {p:.2f}" for edge, p in ranked[:_MOST_EDGES]]
        more = len(ranked) - len(shown)
        rest = f", and {more} more" if more > 0 else ""
        return [f"likely edges: {', '.join(shown)}{rest}"] if shown else []

    def _left_out(self) -> list[str]:
        """Effects of targets that were left out whole, beside those who know no graph."""
        left_out = self.get("left_out_targets")
        if left_out is None:
            return []
        ways = {
            "model": "this fit",
            "no_edges": "no edges",
            "mean_of_others": "mean of the other interventions",
            "correlation": "correlation",
        }
        rows = [
            [title, _cell(left_out[key]["r2"], "{:.2f}"), _cell(left_out[key]["spearman"], "{:.2f}")]
            for key, title in ways.items()
        ]
        kept = ", z read off as by all rows," if left_out.get("reading") == "all rows" else ""
        return [
            f"left out whole, {left_out['targets']} of {left_out['of']} targets: their effects on "
            f"other nodes ({left_out['pairs']} pairs) as predicted{kept} by",
            table(["way", "R2", "Spearman"], rows),
        ]

    def _judgement(self) -> list[str]:
        held_out = self.get("held_out")
        if held_out is None:
            return []
        sets = held_out["sets"]
        where = (
            f"{sets} intervention set{'s' if sets > 1 else ''} held out"
            if sets > 0
            else "rows held out of every set"
        )
        lines = [
            f"judged on {where} ({held_out['rows']} rows): log likelihood "
            f"{held_out['log_likelihood']:.2f} a row, "
            f"{held_out['log_likelihood_without_edges']:.2f} without edges"
        ]
        return lines + self._nodes(held_out, self.get("anchors"))

    def _nodes(self, held_out: dict[str, Any], anchors: dict[str, Any] | None) -> list[str]:
        """All nodes when they are few, else those with causes that are predicted worst."""
        r2 = held_out["r2"]
        nodes = list(range(len(self._labels)))
        if len(nodes) > _MOST_NODES:
            known = [i for i in nodes if self._causes[i] > 0 and r2[self._labels[i]] is not None]
            nodes = sorted(known, key=lambda i: float(r2[self._labels[i]]))[:_WORST_NODES]
        if not nodes:
            return []
        header = ["node", "causes", "R2 under do", "in 90% interval"]
        rows = []
        for i in nodes:
            name = self._labels[i]
            row = [name, str(self._causes[i]), _cell(r2[name], "{:.2f}")]
            row.append(_cell(held_out["coverage_90"][name], "{:.0f}%", 100))
            if anchors is not None:
                row.append(_cell(anchors[name]["r2"], "{:.3f}"))
            rows.append(row)
        if anchors is not None:
            header.append("R2 of anchor")
        few = len(nodes) < len(self._labels)
        worst = ["of the nodes with causes, those predicted worst:"] if few else []
        return [*worst, table(header, rows)]

    def _weak_anchors(self) -> list[str]:
        """Anchors that are not bad enough for a warning."""
        weak = [
            f"{name} ({anchor['samples']} rows, R2 {anchor['r2']:.2f})"
            for name, anchor in (self.get("anchors") or {}).items()
            if anchor["anchor"] != "none" and anchor["r2"] is not None and anchor["r2"] < 0.9
        ]
        return [f"weakly anchored: {', '.join(weak[:_MOST_EDGES])}"] if weak else []


def _cell(value: float | None, form: str, scale: float = 1) -> str:
    if value is None:
        return "-"
    shown = scale * value
    return form.format(0 if abs(shown) < 0.005 else shown)  # not -0.00
