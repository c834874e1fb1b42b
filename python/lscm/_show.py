"""Numbers as text and HTML for people: tables as the command line prints them, and the graph."""

from __future__ import annotations

import html
from collections.abc import Sequence


class Table(str):
    """Columns side by side as text, which knows its cells."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def html(self) -> str:
        """The same for notebooks: names to the left, numbers to the right with figures of one
        width, so that they align."""
        lines = []
        for tag, line in [("th", self.header), *(("td", row) for row in self.rows)]:
            cells = [
                f'<{tag} style="text-align:{"left" if i == 0 else "right"};padding:2px 8px">'
                f"{html.escape(cell)}</{tag}>"
                for i, cell in enumerate(line)
            ]
            lines.append(f"<tr>{''.join(cells)}</tr>")
        style = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:4px 0"
        return (
            f'<table style="{style}"><thead>{lines[0]}</thead>'
            f"<tbody>{''.join(lines[1:])}</tbody></table>"
        )


def as_html(lines: Sequence[str]) -> str:
    """Lines of text with tables between them."""
    parts = [
        line.html() if isinstance(line, Table) else f"<div>{html.escape(line)}</div>"
        for line in lines
    ]
    return "".join(parts)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
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
    made = Table("\n".join(texts))
    made.header, made.rows = header, rows
    return made


def short(number: float) -> str:
    """Four digits, as %.4g.

    >>> short(0.50804), short(-2.0), short(12345.0)
    ('0.508', '-2', '1.234e+04')
    """
    return f"{number:.4g}"


def figure(title: str, drawing: str, note: str) -> str:
    """A drawing (SVG) between a line above and HTML below."""
    return (
        f'<figure style="margin:0"><figcaption><b>{html.escape(title)}</b></figcaption>'
        f'{drawing}{note}</figure>'
    )


def preformatted(text: str) -> str:
    """Text as it is."""
    return f"<pre>{html.escape(text)}</pre>"
