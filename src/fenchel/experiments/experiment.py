"""What an experiment of a paper is: the parts of its run, the claims that the paper makes about it, and its figure

A part is a function that measures something and returns rows, each a dictionary of numbers and names; parts are independent of each other,
so that an interrupted run goes on with those that are missing. Claims are judged by their rows alone. The experiments of a paper are in one
module, ``EXPERIMENTS`` lists them, and :mod:`fenchel.experiments.reproduction` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fenchel.plots.panel_figure import Panel

HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"


class Rows:
    """The rows of an experiment, in the order in which they were measured.

    >>> rows = Rows([{"method": "scd", "passes": 3.0}, {"method": "gcd", "passes": 8.0}])
    >>> rows.where(method="gcd")["passes"].tolist(), rows.values("method"), len(rows)
    ([8.0], ['scd', 'gcd'], 2)
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = list(rows)

    def where(self, **wanted: Any) -> Rows:
        """The rows with these values."""
        return Rows([row for row in self.rows if all(row.get(name) == value for name, value in wanted.items())])

    def values(self, column: str) -> list[Any]:
        """The different values of a column, in the order of the rows."""
        return list(dict.fromkeys(row[column] for row in self.rows if column in row))

    def one(self, column: str, **wanted: Any) -> Any:
        """The value of a column in the only row with these values."""
        (row,) = self.where(**wanted).rows
        return row[column]

    def __getitem__(self, column: str) -> np.ndarray:
        return np.array([row[column] for row in self.rows])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)


class Finding(NamedTuple):
    """What the rows say of a claim, and the numbers that decided it."""

    verdict: str
    numbers: dict[str, Any]


def judged(checks: Mapping[str, bool], numbers: Mapping[str, Any]) -> Finding:
    """The claim holds if all checks do, and in part if some do.

    >>> judged({"p = 2": True, "p = 1.8": False}, {"slope": 0.1}).verdict
    'holds in part'
    """
    passed = sum(checks.values())
    verdict = HOLDS if checks and passed == len(checks) else FAILS if passed == 0 else IN_PART
    failed = [name for name, check in checks.items() if not check]
    return Finding(verdict, {**numbers, **({"fails for": ", ".join(failed)} if failed and passed else {})})


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper about an experiment, and the rule that judges it."""

    sentence: str  #: in the paper's words
    source: str  #: section and figure
    rule: str  #: when the claim holds, in a sentence
    judge: Callable[[Rows], Finding]
    investigation: str = ""  #: of a claim that does not hold or holds in part: what was varied, and what was found


class Part(NamedTuple):
    """A part of a run, by a name that no other part of the experiment has."""

    name: str
    measure: Callable[[], list[dict[str, Any]]]


class Table(NamedTuple):
    """Numbers side by side."""

    heads: list[str]
    lines: list[list[str]]


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper."""

    name: str  #: on the command line
    title: str
    source: str  #: the table or figure
    paper: str  #: a key of :data:`PAPERS`
    data: str  #: what was measured on, where the paper's data cannot be had what in their place, and the preprocessing
    parts: Callable[[bool], list[Part]]  #: of the full run, or of a quick one
    claims: tuple[Claim, ...]
    panels: Callable[[Rows], list[Panel]]
    columns: int = 3  #: of panels in the figure
    table: Callable[[Rows], Table] | None = None  #: the numbers that the paper prints, beside ours


PAPERS = {
    "pgs": "Z. Allen Zhu, W. Chen, C. Zhu, G. Wang, H. Wang and Z. Chen, Inverse time dependency in convex regularized learning, ICDM 2009",
    "asdca": "S. Shalev-Shwartz and T. Zhang, Accelerated proximal stochastic dual coordinate ascent for regularized loss minimization, "
    "ICML 2014",
    "l1": "S. Shalev-Shwartz and A. Tewari, Stochastic methods for l1-regularized loss minimization, JMLR 2011",
    "prox": "C. Do, Q. Le and C.-S. Foo, Proximal regularization for online and batch learning, ICML 2009",
}
