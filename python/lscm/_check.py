"""Checks of what a fit assumes, and which pairs of nodes the design decides: `lscm check`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from ._show import as_html, table


@dataclasses.dataclass(frozen=True)
class Finding:
    """One named check (docs/commands/check.md lists them)."""

    check: str
    verdict: str  # "good", "noted", "untested" or "found"
    figure: float | None
    limit: float | None
    nodes: tuple[str, ...]
    says: str
    remedy: str
    warns: bool = False  # the fit warns of it, too


@dataclasses.dataclass(frozen=True)
class Pair:
    """Whether two nodes are decided, and what would decide them."""

    nodes: tuple[str, str]
    verdict: str  # "decided", "assumed", "undecided" or "undecidable"
    edge: str | None  # "a -> b"
    p: tuple[float, float]  # of the edge from the first to the second, and back
    why: str
    remedy: str


class Checks(Sequence[Finding]):
    """The checks of a run; printed, they are for people.

    `found` are those that found something, `pairs` the pairs of nodes but those that have no edge
    for sure, `counts` how many pairs have which verdict.
    """

    def __init__(self, summary: dict[str, Any]) -> None:
        def made(kind: type, one: dict[str, Any], *lists: str) -> Any:
            return kind(**{key: tuple(one[key]) if key in lists else one[key] for key in one})

        pairs = dict(summary.get("pairs", {}))
        self._all = [made(Finding, one, "nodes") for one in summary.get("checks", [])]
        self.pairs: list[Pair] = [made(Pair, one, "nodes", "p") for one in pairs.pop("list", [])]
        self.counts: dict[str, int] = pairs

    def __getitem__(self, index: Any) -> Any:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._all)

    @property
    def found(self) -> list[Finding]:
        """What should be known before the fit is believed; empty where all is well."""
        return [one for one in self._all if one.verdict == "found"]

    def _lines(self) -> list[str]:
        rows = [[f.check, f.verdict, "-" if f.figure is None else f"{f.figure:.2g}"] for f in self]
        lines: list[str] = [table(["check", "verdict", "figure"], rows)]
        told = [f for f in self if f.verdict == "found" or f.warns]
        lines += [f"{f.check}: {f.says}. {f.remedy}".rstrip() for f in told]
        lines += [
            f"{' ? '.join(pair.nodes)}, {pair.verdict}: {pair.why}. Would tell: {pair.remedy}."
            for pair in self.pairs
            if pair.verdict != "decided"
        ]
        return lines if self.found else [*lines, "no problems detected"]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self._lines())
