"""progress=None, True or a function, as the function that the library calls now and then.

It gets what is being done, how much of it is done and how much there is; returning False stops."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from ._problems import wrong_type

Report: TypeAlias = Callable[[str, int, int], object]
Progress: TypeAlias = "Report | bool | None"


@contextlib.contextmanager
def reporting(progress: Progress) -> Iterator[Report | None]:
    """The function for the library, or None; what it draws is gone or finished afterwards."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = _tqdm_bar() or _Line()
        try:
            yield bar
        finally:
            bar.close()
    elif callable(progress):
        yield progress
    else:
        raise wrong_type(
            f"progress: is {progress!r}; give None, True, or a function of (what, done, total)"
        )


class _Bar:
    """A bar of tqdm for a fit, or for each thing that is done."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._bar is None or total != self._bar.total or done < self._bar.n:
            self.close()
            self._bar = self._tqdm(total=total, leave=False)
        self._bar.n = done
        self._bar.set_description(what)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None


class _Line:
    """One line of text, written over, where there is no tqdm."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        text = f"{what} {100 * done // max(total, 1)}%"
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


def _tqdm_bar() -> _Bar | None:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return _Bar(tqdm)
