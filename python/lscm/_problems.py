"""What can go wrong: every exception of the package is an lscm.Error whose text says what is wrong,
where, and what to do. The kinds made by the library come from _core; those made here are these."""

from __future__ import annotations

import contextlib
import difflib
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ._core import Error, ToolProblem, ValueProblem


class TypeProblem(Error, TypeError):
    """An argument is of a kind that cannot be used."""

    __module__ = "lscm"


class NotFitted(Error, ValueError, AttributeError):
    """The estimator was asked for what only a fit can give."""

    __module__ = "lscm"

    def __reduce__(self) -> tuple[Any, ...]:
        return NotFitted, self.args


class OutsideWarning(UserWarning):
    """Beyond what the run was fitted to: rows of x outside the values that do() set, or a do() at a
    value that was never seen. Nothing vouches for the answer."""

    __module__ = "lscm"


class GraphAloneWarning(UserWarning):
    """The truth says which edges there are and nothing of weights, so scores of weights are NaN."""

    __module__ = "lscm"


class FitWarning(UserWarning):
    """What to know before believing a fit, one warning a sentence: `diagnostics_.warnings`."""

    __module__ = "lscm"


def wrong(sentence: str) -> ValueProblem:
    """A value that cannot be used, as an exception to raise."""
    problem = ValueProblem(sentence)
    problem.status = "USAGE"
    return problem


def wrong_type(sentence: str) -> TypeProblem:
    """A kind that cannot be used, as an exception to raise."""
    problem = TypeProblem(sentence)
    problem.status = "USAGE"
    return problem


def not_fitted(name: str) -> NotFitted:
    """The exception for `name`; where scikit-learn is loaded it is its NotFittedError, too."""
    kind: type[NotFitted] = NotFitted
    theirs = sys.modules.get("sklearn.exceptions")
    if theirs is not None:
        kind = type("NotFitted", (NotFitted, theirs.NotFittedError), {"__doc__": NotFitted.__doc__})
    problem = kind(f"this {name} is not fitted yet; call fit(X, targets, values) first")
    problem.status = "USAGE"
    return problem


def missing_package(package: str, what: str) -> ToolProblem:
    """The exception for an optional package that is not installed."""
    problem = ToolProblem(
        f"{what} needs the package {package}, which is not installed; pip install {package}"
    )
    problem.status = "TOOL"
    return problem


_FLAG = re.compile(
    r"--(target-column|value-column|control|ignore|truth|names)(?: '([^']*)'| ([\w.,:()+-]+))?"
)


def _keyword(flag: re.Match[str]) -> str:
    word = flag[2] if flag[3] is None else flag[3]
    name = flag[1].replace("-", "_")
    return name if word is None else f"{name}={word!r}"


@contextlib.contextmanager
def naming_keywords() -> Iterator[None]:
    """The library's sentences name flags of the command line; here they are keyword arguments.

    >>> with naming_keywords():
    ...     raise wrong("is 'condition' it? --target-column condition; if not: --ignore condition")
    Traceback (most recent call last):
    lscm.ValueProblem: is 'condition' it? target_column='condition'; if not: ignore='condition'
    """
    try:
        yield
    except Error as problem:
        problem.args = (_FLAG.sub(_keyword, str(problem)), *problem.args[1:])
        raise


def hint(word: str, candidates: Iterable[str]) -> str:
    """ "; did you mean 'x'?", or nothing."""
    near = difflib.get_close_matches(word, list(candidates), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
