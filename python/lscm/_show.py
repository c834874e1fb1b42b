"""Numbers as text and HTML for people: tables as the command line prints them, and the graph."""

from __future__ import annotations

import html
from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, the first to the left and the others to the right.

    >>> print(table(["node", "mean"], [["raf", "2"], ["mek", "-0.5"]]))
    node mean
    raf     2
    mek  -0.5
    """
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = []
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        texts.append(" ".join(cells).rstrip())
    return "\n".join(texts)


def short(number: float) -> str:
    """Four digits, as %.4g.

    >>> short(0.50804), short(-2.0), short(12345.0)
    ('0.508', '-2', '1.234e+04')
    """
    return f"{number:.4g}"


def figure(title: str, drawing: str, note: str) -> str:
    """A drawing (SVG) between a line above and a line below."""
    return (
        f'<figure style="margin:0"><figcaption><b>{html.escape(title)}</b></figcaption>'
        f'{drawing}<div style="white-space:pre-wrap">{html.escape(note)}</div></figure>'
    )


def preformatted(text: str) -> str:
    """Text as it is."""
    return f"<pre>{html.escape(text)}</pre>"
