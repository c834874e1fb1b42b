"""What a column of a DataFrame sounds like, and several targets in one cell: as in tables on the
command line (src/data/text)."""

from __future__ import annotations

import re
from collections.abc import Collection

_TARGETS = re.compile(
    r"target|condition|interv|treat|perturb|guide|grna|knock|crispr|compound"
    r"|(?<![a-z])(?:gene|drug|pert)(?![a-z])",
    re.IGNORECASE,
)
_VALUES = re.compile(
    r"^values?$|(?<![a-z])(?:doses?|dosage|conc|concentration)(?![a-z])", re.IGNORECASE
)


def sounds_like_targets(name: str) -> bool:
    """
    >>> [name for name in ("sgRNA", "Drug_1", "general", "raf") if sounds_like_targets(name)]
    ['sgRNA', 'Drug_1']
    """
    return _TARGETS.search(name) is not None


def sounds_like_values(name: str) -> bool:
    """
    >>> [name for name in ("Dose (uM)", "value", "p_value", "raf") if sounds_like_values(name)]
    ['Dose (uM)', 'value']
    """
    return _VALUES.search(name) is not None


def parts(cell: str, names: Collection[str]) -> list[str]:
    """Targets joined by ';', '+', ',' or '|' outside of brackets; a name is one, whatever is in it.

    >>> parts("raf + mek;A+B", ["A+B"]), parts("(+)-JQ1|p", [])
    (['raf', 'mek', 'A+B'], ['(+)-JQ1', 'p'])
    """
    if cell in names:
        return [cell]
    pieces = [piece.strip() for piece in cell.split(";")]
    return [
        part for piece in pieces for part in ([piece] if piece in names else _cut(piece))
    ]


def _cut(text: str) -> list[str]:
    depth, cut = 0, [""]
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}" and depth > 0)
        if depth == 0 and letter in "+,|;":
            cut.append("")
        else:
            cut[-1] += letter
    return [part.strip() for part in cut]
