"""``strength="auto"``: choose the strength of a regularizer while learning, with one reading of the rows for all candidates

An answer to the wish that ends section VII of Zhu et al., *Inverse Time Dependency in Convex Regularized Learning*, ICDM
2009. Candidates of strengths σ_k = 2^k·R²/m, R² the mean of ‖x‖², are trained on the same rows in the same order. Each row is
predicted by every candidate just before the candidate learns from it (progressive validation). At the end of a stage the
candidates are ranked by their losses and errors on its later rows, and only some continue. The candidate chosen in the end has
learnt from every row, exactly as if it had been trained alone.

Plain successive halving would drop the strengths that are best in the end: after t rows the best strength is about c/t, so
that of the whole run is smaller than the best so far. A stage that ends after a fraction f of the rows therefore keeps the
candidates around f^0.9 times its own best. The average over a suffix, which is what is returned unless asked otherwise, is
best for strengths a few times smaller than those best for the last iterate: the last stage evaluates the averages.

How long a stream will be is not known. There a stage ends whenever the rows have doubled, four candidates continue, and where
the best is at the lower end of the grid, a smaller strength joins with its neighbour's weights: λ' = λσ'/σ gives the same w.

What trains the candidates is in :mod:`.candidates`, and for ridge penalties in :mod:`.ridge_candidates`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate

STAGES = ((1 / 32, 1 / 64), (1 / 4, 1 / 8))  # of a run in memory, as fractions of the rows: where a stage ends, and evaluates from
FEWEST_ROWS = 300  # a stage with fewer rows ranks candidates by chance, and is left out
FIRST_STREAM_STAGE, STREAM_CANDIDATES = 512, 4  # rows of the first stage of a stream, and how many candidates continue
ERRORS_OF_NUMBERS = 400.0  # in place of a count of errors, where there are no classes
LARGEST_RATIO, OUTLIER = 5.0, 3.0  # losses far above the best count as this multiple of it: they say nothing about where the minimum is
AVERAGED_FROM, AVERAGES_EVALUATED_FROM = 5 / 8, 13 / 16  # fractions of the rows
DECAY = 0.9  # the best strength after t rows is about c/t^DECAY


class Candidates(Protocol):
    """Models of several strengths that learn from the same rows."""

    labels: str
    survivors: tuple[int, int]  #: how many candidates continue after each stage in memory

    @property
    def exponents(self) -> list[float]:
        """k of the strengths, in increasing order."""
        ...

    def run(self, chunk: Chunk, order: np.ndarray, evaluate: bool) -> None:
        """Learn from these rows, and with ``evaluate`` add up what each would have lost on them before."""
        ...

    def evaluated(self) -> np.ndarray:
        """The sums of losses and of errors of every candidate so far."""
        ...

    def keep(self, which: np.ndarray) -> None:
        """Continue with these candidates only."""
        ...

    def add_smaller(self) -> None:
        """Add half the smallest strength in place of the largest."""
        ...

    def average_from_here(self) -> None:
        """Begin the averages over a suffix."""
        ...

    def iterate(self, j: int) -> Iterate:
        """The state of a candidate."""
        ...


class StrengthSearch:
    """Stages, ranking and the choice, for any kind of candidates."""

    def __init__(self, candidates: Candidates, batch: int) -> None:
        self.candidates, self.batch = candidates, batch
        self.earlier = candidates.evaluated()  # the sums when the present evaluation began

    def in_memory(self, chunks: Iterator[Chunk], m: int, averaging: bool) -> int:
        """One pass over m rows; the best candidate. Averages over a suffix begin in the last stage."""
        rows = RowSupply(self, chunks)
        for (fraction, evaluated_from), count in zip(STAGES, self.candidates.survivors, strict=True):
            if fraction * m >= FEWEST_ROWS:
                end = min(self.whole_batches(fraction * m), m)
                rows.run_until(end, evaluated_from * m)
                self.keep(self.nearest(self.best() - DECAY * math.log2(m / end), count))
        if averaging:
            begin = self.whole_batches(AVERAGED_FROM * m)
            rows.run_until(begin if begin < m else 0, m)
            self.candidates.average_from_here()
        rows.run_until(m, (AVERAGES_EVALUATED_FROM if averaging else 0.5) * m)
        return int(np.argmin(self.scores(final=True)))

    def on_stream(self, chunks: Iterator[Chunk]) -> Iterator[int]:
        """The best candidate so far after every chunk of a stream."""
        seen, end = 0, self.whole_batches(FIRST_STREAM_STAGE)
        best = float(np.median(self.candidates.exponents))
        for chunk in chunks:
            first = 0
            while first < len(chunk.order):
                last = min(len(chunk.order), first + end - seen)
                self.candidates.run(chunk, chunk.order[first:last], evaluate=True)
                seen, first = seen + last - first, last
                if seen == end:
                    best = self.best()
                    self.keep(self.nearest(best - 1.0, STREAM_CANDIDATES))
                    if self.candidates.exponents[0] > best - 1.5:
                        self.candidates.add_smaller()
                    self.earlier = self.candidates.evaluated()
                    end *= 2
            del chunk
            yield int(self.nearest(best, 1)[0])

    def scores(self, final: bool) -> np.ndarray:
        """The losses and errors of the candidates since evaluation began, relative to the best of them."""
        losses, errors = (self.candidates.evaluated() - self.earlier).T
        loss = np.where(np.isfinite(losses), losses, math.inf)
        loss = np.minimum(loss / loss.min(), LARGEST_RATIO) if 0.0 < loss.min() < math.inf else np.where(loss > 0.0, LARGEST_RATIO, 1.0)
        if self.candidates.labels == "real":
            return loss
        error = np.maximum(errors, 1.0) / max(errors.min(), 1.0)
        # Early on, errors alone can't distinguish strengths that all predict the larger class, and losses alone mislead.
        return error if final else np.sqrt(loss * error)

    def best(self) -> float:
        """The exponent of the best strength, as a real number: halfway between the minimum of a curve through the scores and the
        smallest strength whose score differs from it by chance. Many scores are equal where all candidates predict the larger class,
        and the best strength of the whole run is smaller than those.
        """
        s, e = self.scores(final=False), np.array(self.candidates.exponents)
        if len(s) >= 5:
            s = np.minimum(s, OUTLIER * s.min())
            padded = np.concatenate([s[:1], s, s[-1:]])
            s = (padded[:-2] + 2.0 * padded[1:-1] + padded[2:]) / 4.0
        j = int(np.argmin(s))
        lowest = float(e[j])
        if 0 < j < len(s) - 1:
            curvature = s[j - 1] - 2.0 * s[j] + s[j + 1]
            shift = 0.5 * (s[j - 1] - s[j + 1]) / curvature if curvature > 0.0 else 0.0
            lowest += float(np.clip(shift, -0.5, 0.5)) * (e[j + 1] - e[j])
        errors = (self.candidates.evaluated() - self.earlier)[:, 1].min() if self.candidates.labels != "real" else ERRORS_OF_NUMBERS
        as_good = float(e[np.flatnonzero(s <= s[j] * (1.0 + 1.0 / math.sqrt(max(errors, 1.0))))[0]])
        return 0.5 * (lowest + min(as_good, lowest))

    def whole_batches(self, rows: float) -> int:
        """About that many rows, in whole batches."""
        return max(1, round(rows / self.batch)) * self.batch

    def nearest(self, exponent: float, count: int) -> np.ndarray:
        """The candidates nearest to an exponent, in order."""
        return np.sort(np.argsort(np.abs(np.array(self.candidates.exponents) - exponent), kind="stable")[:count])

    def keep(self, which: np.ndarray) -> None:
        """Continue with these candidates only."""
        self.candidates.keep(which)
        self.earlier = self.earlier[which]


class RowSupply:
    """The rows of one pass, given to the candidates up to a requested count."""

    def __init__(self, search: StrengthSearch, chunks: Iterator[Chunk]) -> None:
        self.search, self.chunks, self.seen = search, chunks, 0
        self.chunk: Chunk | None = None
        self.first = 0

    def run_until(self, end: int, evaluated_from: float) -> None:
        """Have the candidates learn up to row number ``end``, and evaluate them from row number ``evaluated_from`` on."""
        self._run(max(self.seen, min(self.search.whole_batches(evaluated_from), end)), evaluate=False)
        self.search.earlier = self.search.candidates.evaluated()
        self._run(end, evaluate=True)

    def _run(self, end: int, evaluate: bool) -> None:
        while self.seen < end:
            if self.chunk is None or self.first == len(self.chunk.order):
                self.chunk, self.first = next(self.chunks), 0
            last = min(len(self.chunk.order), self.first + end - self.seen)
            self.search.candidates.run(self.chunk, self.chunk.order[self.first : last], evaluate)
            self.seen, self.first = self.seen + last - self.first, last
