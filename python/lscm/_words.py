"""The library's sentences in Python's own words: what the command line calls --per-set 40 is
per_set=40 here. Exceptions (python/src/errors.c), warnings and remedies all pass through this."""

from __future__ import annotations

import functools
import re
from typing import Any

from . import _core

# Whole phrases that have no option as their counterpart.
_PHRASES = {
    "the same command and --resume": "fit(..., resume=True)",
    "lscm fit --resume": "fit(..., resume=True)",
    "`lscm simulate --help` lists them": "lscm.presets() lists them",
    "`lscm simulate --help`": 'lscm.settings("simulation")',
    "`lscm fit --help`": "help(lscm.LatentSCM)",
}
_SWITCHES = {"force", "resume"}
_OPTION = re.compile(r"(?<![^\s(`'\"])--([a-z][a-z0-9-]*)")
_NUMBER = re.compile(r"[ =](-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w.,]*\w)")
_WORD = re.compile(r"[ =]([a-z]+)\b")
# Of an option that is no setting: quoted, CAPITALS, or all that stands before the sentence ends.
_TEXT = re.compile(r"[ =](?:'([^']+)'|([A-Z][A-Z,]+)\b|([^\s;()]+)(?=$|[;).?])|(\S[^;,()]*)$)")
_END = re.compile(r"(?:with|is|after) $")


@functools.cache
def _settings() -> dict[str, dict[str, Any]]:
    return {str(row["name"]): dict(row) for row in _core.settings("fit")}


def in_python(text: str) -> str:
    """A sentence of the library for whoever writes Python.

    >>> in_python("take more, or --method biols; a smaller --rate may help")
    'take more, or method="biols"; a smaller rate may help'
    >>> in_python("d.csv: this file exists already; replace it with --force")
    'd.csv: this file exists already; replace it with force=True'
    >>> in_python("leave the column out with --ignore cell type")
    "leave the column out with ignore='cell type'"
    >>> in_python("list it (--order 2,0,1) or learn it")
    'list it (order=[2, 0, 1]) or learn it'
    """
    if "--" not in text:
        return text
    for phrase, words in _PHRASES.items():
        text = text.replace(phrase, words)
    said, place = "", 0
    for option in _OPTION.finditer(text):
        if option.start() < place:
            continue  # part of the value before it
        name = option[1].replace("-", "_")
        value, length = _value(name, text[: option.start()], text[option.end() :])
        said += text[place : option.start()] + (name if value is None else f"{name}={value}")
        place = option.end() + length
    return said + text[place:]


def _value(name: str, before: str, after: str) -> tuple[str | None, int]:
    """What an option is set to, as Python writes it, and how many characters of `after` it was."""
    if name in _SWITCHES:
        return "True", 0
    setting = _settings().get(name, {})
    if setting and name != "order":
        pattern = _WORD if setting["choices"] else _NUMBER
        found = pattern.match(after)
        if found is None or setting["choices"] and found[1] not in setting["choices"]:
            return None, 0
        return (f'"{found[1]}"' if setting["choices"] else found[1]), found.end()
    found = _TEXT.match(after)
    if found is None or found[4] and not _END.search(before):
        return None, 0
    value = next(part for part in found.groups() if part)
    return (f"[{value.replace(',', ', ')}]" if name == "order" else repr(value)), found.end()


def spoken(told: Any) -> Any:
    """All sentences in lists and dicts as `in_python` has them.

    >>> spoken({"warnings": ["more --chains may help"], "r_hat": 1.3})
    {'warnings': ['more chains may help'], 'r_hat': 1.3}
    """
    if isinstance(told, str):
        return in_python(told)
    if isinstance(told, dict):
        return {key: spoken(value) for key, value in told.items()}
    if isinstance(told, (list, tuple)):
        return type(told)(spoken(value) for value in told)
    return told
