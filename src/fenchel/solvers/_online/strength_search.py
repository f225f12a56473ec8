"""``strength="auto"``: choose the strength of a regularizer while learning, one reading of the rows serving all candidates

An answer to the wish that ends section VII of Zhu et al., *Inverse Time Dependency in Convex Regularized Learning*, ICDM
2009. Strengths σ_k = 2^k·R²/m, R² the mean of ‖x‖², are trained side by side on the same rows in the same order. Each row is
predicted by every candidate just before it learns from it (progressive validation); at the end of a rung the candidates
are ranked by how they did on the latest of the rows, and only some go on. The winner has learnt from every row,
exactly as if it had run alone.

Plain successive halving would drop the strengths that win in the end: after t rows the best strength is about c/t, so that
of the whole run is smaller than the best so far. A rung that ends after a fraction f of the rows therefore keeps the
candidates around f^0.9 times its own best. The average over a suffix, which is what is returned unless asked otherwise, is at
its best for strengths a few times smaller than the last iterate: in the last rung it is the averages that are judged.

How long a stream will be is not known. There a rung ends whenever the rows have doubled, four candidates go on, and where the
grid ends below, a smaller strength joins from its neighbour's weights: λ' = λσ'/σ gives the same w.

Under a ridge penalty candidates share one kernel, four to a vector register; other regularizers take a kernel call each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from fenchel.core.compiled import kernel
from fenchel.linalg.weights import Plain
from fenchel.problems.objective import Chunk
from fenchel.problems.result import Iterate
from fenchel.solvers._online.averaging import Average, predictor_of
from fenchel.solvers._online.online_loop import ACCESSES, ERRORS, LOSS, ROWS, TALLIES, Game

EXPONENTS = tuple(float(k) for k in range(-4, 12))  # k of the strengths in the race
RUNGS = ((1 / 32, 1 / 64), (1 / 4, 1 / 8))  # fractions of the rows: to where, and judged from where
FEWEST = 300  # rows that a rung must have seen to tell anything
STREAM_RUNG, STREAM_FIELD = 512, 4
AVERAGE_LOOKS = 8  # how often averages are brought up to date while they are judged, where that costs O(features)
BLOCK = 1 << 16  # rows that all candidates take before any goes on to the next
ERRORS_OF_NUMBERS = 400.0  # in place of a count of errors, where there are no classes
CAP, OUTLIER = 5.0, 3.0  # losses far from the best count as this many times it: what is far is not where the minimum is
AVERAGED_FROM, AVERAGES_JUDGED_FROM = 5 / 8, 13 / 16  # fractions of the rows
FALL = 0.9  # the best strength after t rows is about c/t^FALL


class Race:
    """Rungs, ranking and the choice, whatever the field of candidates is made of."""

    def __init__(self, field: Any, batch: int) -> None:
        self.field, self.batch = field, batch
        self.marks = field.suffered()

    def whole_batches(self, rows: float) -> int:
        """About as many rows, in whole batches."""
        return max(1, round(rows / self.batch)) * self.batch

    def scores(self, final: bool) -> np.ndarray:
        """How the candidates did since judging began, relative to the best of them."""
        losses, errors = (self.field.suffered() - self.marks).T
        loss = np.where(np.isfinite(losses), losses, math.inf)
        loss = np.minimum(loss / loss.min(), CAP) if 0.0 < loss.min() < math.inf else np.where(loss > 0.0, CAP, 1.0)
        if self.field.labels == "real":
            return loss
        error = np.maximum(errors, 1.0) / max(errors.min(), 1.0)
        # Early on errors alone can't tell strengths apart that all predict the larger class, and losses alone mislead.
        return error if final else np.sqrt(loss * error)

    def best(self) -> float:
        """The exponent that did best: where a curve through the scores is smallest, or on the way from there to the smallest strength
        that did as well but for chance. Many do alike where all predict the larger class; the best of the whole run is below them.
        """
        s, e = self.scores(final=False), np.array(self.field.exponents)
        if len(s) >= 5:
            s = np.minimum(s, OUTLIER * s.min())
            padded = np.concatenate([s[:1], s, s[-1:]])
            s = (padded[:-2] + 2.0 * padded[1:-1] + padded[2:]) / 4.0
        j = int(np.argmin(s))
        lowest = float(e[j])
        if 0 < j < len(s) - 1:
            bend = s[j - 1] - 2.0 * s[j] + s[j + 1]
            shift = 0.5 * (s[j - 1] - s[j + 1]) / bend if bend > 0.0 else 0.0
            lowest += float(np.clip(shift, -0.5, 0.5)) * (e[j + 1] - e[j])
        errors = (self.field.suffered() - self.marks)[:, 1].min() if self.field.labels != "real" else ERRORS_OF_NUMBERS
        as_good = float(e[np.flatnonzero(s <= s[j] * (1.0 + 1.0 / math.sqrt(max(errors, 1.0))))[0]])
        return 0.5 * (lowest + min(as_good, lowest))

    def in_memory(self, chunks: Iterator[Chunk], m: int, averaging: bool) -> int:
        """One pass over m rows; which candidate has won. Averages over a suffix begin with the last rung."""
        stage = Stage(self, chunks)
        for (fraction, judged_from), keep in zip(RUNGS, self.field.survivors, strict=True):
            if fraction * m >= FEWEST:
                end = min(self.whole_batches(fraction * m), m)
                stage.play(end, judged_from * m)
                self.keep(self.nearest(self.best() - FALL * math.log2(m / end), keep))
        if averaging:
            begin = self.whole_batches(AVERAGED_FROM * m)
            stage.play(begin if begin < m else 0, m)
            self.field.average_from_here()
        stage.play(m, (AVERAGES_JUDGED_FROM if averaging else 0.5) * m)
        return int(np.argmin(self.scores(final=True)))

    def on_stream(self, chunks: Iterator[Chunk]) -> Iterator[int]:
        """The best candidate so far after every chunk of a stream."""
        seen, end = 0, self.whole_batches(STREAM_RUNG)
        leading = float(np.median(self.field.exponents))
        for chunk in chunks:
            first = 0
            while first < len(chunk.order):
                last = min(len(chunk.order), first + end - seen)
                self.field.play(chunk, chunk.order[first:last], judge=True)
                seen, first = seen + last - first, last
                if seen == end:
                    leading = self.best()
                    self.keep(self.nearest(leading - 1.0, STREAM_FIELD))
                    if self.field.exponents[0] > leading - 1.5:
                        self.field.join_below()
                    self.marks = self.field.suffered()
                    end *= 2
            del chunk
            yield int(self.nearest(leading, 1)[0])

    def nearest(self, exponent: float, count: int) -> np.ndarray:
        """The candidates nearest to an exponent, in order."""
        return np.sort(np.argsort(np.abs(np.array(self.field.exponents) - exponent), kind="stable")[:count])

    def keep(self, which: np.ndarray) -> None:
        """Only these go on."""
        self.field.keep(which)
        self.marks = self.marks[which]


class Stage:
    """The rows of one pass, handed out up to a given count."""

    def __init__(self, race: Race, chunks: Iterator[Chunk]) -> None:
        self.race, self.chunks, self.seen = race, chunks, 0
        self.chunk: Chunk | None = None
        self.first = 0

    def play(self, end: int, judged_from: float) -> None:
        """Have the race go on to row number ``end``, and count what is suffered from row number ``judged_from`` on."""
        self._play(max(self.seen, min(self.race.whole_batches(judged_from), end)), judge=False)
        self.race.marks = self.race.field.suffered()
        self._play(end, judge=True)

    def _play(self, end: int, judge: bool) -> None:
        while self.seen < end:
            if self.chunk is None or self.first == len(self.chunk.order):
                self.chunk, self.first = next(self.chunks), 0
            last = min(len(self.chunk.order), self.first + end - self.seen)
            self.race.field.play(self.chunk, self.chunk.order[self.first : last], judge)
            self.seen, self.first = self.seen + last - self.first, last


# ---- a field of players of any kind ----


class Candidate:
    """One strength in the race: a player, what it has suffered, and what it would return."""

    def __init__(self, problem: Any, exponent: float, player: Any, game: Game, predictor: str) -> None:
        self.problem, self.exponent, self.player, self.game = problem, exponent, player, game
        self.returned = predictor_of(predictor, player, game.rng, game.state)

    def play(self, chunk: Chunk, order: np.ndarray, judge: bool) -> None:
        """Learn from rows, predicting each before it is learnt."""
        averaging = isinstance(self.returned, Average)
        if judge and averaging:
            self.judge_average(chunk, order)
        self.game.judge = (judge and not averaging) or not self.problem.in_memory
        for part in self.returned.parts(order, self.game.batch):
            self.game.play(chunk, self.returned.player, part)

    def judge_average(self, chunk: Chunk, order: np.ndarray) -> None:
        """Add up what the average so far suffers on rows about to be learnt."""
        suffer = suffer_vector if self.problem.vector_valued else suffer_scalar
        K = (self.problem.outputs,) if self.problem.vector_valued else ()
        suffer(chunk.design.rows, chunk.y, chunk.s, self.problem.loss, Plain(self.returned.weights()), order, self.game.tally, *K)

    def iterate(self, scale: float = 1.0) -> Iterate:
        """Where the candidate stands, with λ multiplied."""
        state = {"lambda": scale * self.player.v, "t": self.player.clock[0]}
        return self.game.iterate(self.returned.weights(), {**state, **self.returned.state()})

    def average_from_here(self) -> None:
        """Begin the average of a suffix with the next round."""
        t = self.returned.t
        self.returned = predictor_of("suffix", self.player, self.game.rng, suffix_state(t))


class Separate:
    """Candidates with a kernel call each, in as many threads as there are; ``candidate(exponent, of)`` makes them."""

    survivors = (6, 2)  # how many go on after each rung

    def __init__(self, candidate: Callable[..., Candidate], threads: int) -> None:
        self.candidate, self.threads = candidate, threads
        self.candidates = [candidate(k) for k in EXPONENTS]
        self.averaging = False
        self.labels = self.candidates[0].problem.labels

    @property
    def exponents(self) -> list[float]:
        """k of the candidates still in."""
        return [c.exponent for c in self.candidates]

    def play(self, chunk: Chunk, order: np.ndarray, judge: bool) -> None:
        """All candidates on the same rows, block by block."""
        batch = self.candidates[0].game.batch
        rows = len(order) // AVERAGE_LOOKS if judge and self.averaging else BLOCK
        block = max(1, rows // batch) * batch
        with ThreadPoolExecutor(self.threads) as pool:
            for first in range(0, len(order), block):
                part = order[first : first + block]
                list(pool.map(lambda candidate, part=part: candidate.play(chunk, part, judge), self.candidates))

    def suffered(self) -> np.ndarray:
        """Losses and errors of every candidate so far."""
        return np.array([[c.game.tally[LOSS], c.game.tally[ERRORS]] for c in self.candidates])

    def keep(self, which: np.ndarray) -> None:
        """Only these go on."""
        self.candidates = [self.candidates[j] for j in which]

    def join_below(self) -> None:
        """Half the smallest strength joins, from the same weights, in place of the largest."""
        smallest = self.candidates[0]
        self.candidates = [self.candidate(smallest.exponent - 1.0, smallest), *self.candidates[:-1]]

    def average_from_here(self) -> None:
        """Begin averages over a suffix."""
        self.averaging = True
        for candidate in self.candidates:
            candidate.average_from_here()

    def iterate(self, j: int) -> Iterate:
        """Where a candidate stands."""
        return self.candidates[j].iterate()


@kernel
def suffer_scalar(rows, y, s, loss, w, order, tally):
    """Add up the losses and errors of fixed weights."""
    for i in order:
        z = rows.dot(i, w)
        tally[LOSS] += s[i] * loss.value(z, y[i])
        tally[ERRORS] += s[i] if y[i] * z <= 0.0 else 0.0


@kernel
def suffer_vector(rows, y, s, loss, w, order, tally, K):
    """The same for K outputs."""
    z = np.empty(K)
    for i in order:
        rows.dots(i, w, z)
        tally[LOSS] += s[i] * loss.value(z, y[i])
        tally[ERRORS] += s[i] if np.argmax(z) != y[i] else 0.0


def suffix_state(t: int) -> dict[str, Any]:
    """The state of a suffix average that begins after round t."""
    return {"rounds": t, "since": t, "since_next": t, "next_mark": max(1, 2 * t)}


# ---- a field of ridge penalties, one row after the other for all ----


@kernel
def play_lanes(rows, y, s, loss, v, owed, mass, inverse, clock, order, tally, judge, losses, since):
    """Rounds of one row for 4L candidates: w of number (l, c) is inverse[l, c]/t·v[:, l, c].

    ``owed`` and ``mass`` hold the averages since round ``since``, as in :class:`.averaging.Averaged`, and are empty before.
    Where there are averages, it is they that are judged; by their errors alone unless ``losses``.
    """
    averaging = owed.shape[0] > 0
    for i in order:
        scale = 1.0 / max(clock[0] + clock[1], 1.0)
        for l in range(np.uintp(inverse.shape[0])):
            ra, rb, rc, rd = rows.dot4(i, v, l)
            za = scale * inverse[l, 0] * ra
            zb = scale * inverse[l, 1] * rb
            zc = scale * inverse[l, 2] * rc
            zd = scale * inverse[l, 3] * rd
            a = -s[i] * loss.derivative(za, y[i])
            b = -s[i] * loss.derivative(zb, y[i])
            c = -s[i] * loss.derivative(zc, y[i])
            d = -s[i] * loss.derivative(zd, y[i])
            if judge:
                if averaging:
                    rounds = max(clock[0] - since, 1.0)
                    oa, ob, oc, od = rows.dot4(i, owed, l)
                    za = (mass[l, 0] * ra - oa) / rounds
                    zb = (mass[l, 1] * rb - ob) / rounds
                    zc = (mass[l, 2] * rc - oc) / rounds
                    zd = (mass[l, 3] * rd - od) / rounds
                if losses:
                    tally[l, 0, 0] += s[i] * loss.value(za, y[i])
                    tally[l, 1, 0] += s[i] * loss.value(zb, y[i])
                    tally[l, 2, 0] += s[i] * loss.value(zc, y[i])
                    tally[l, 3, 0] += s[i] * loss.value(zd, y[i])
                tally[l, 0, 1] += s[i] * (y[i] * za <= 0.0)
                tally[l, 1, 1] += s[i] * (y[i] * zb <= 0.0)
                tally[l, 2, 1] += s[i] * (y[i] * zc <= 0.0)
                tally[l, 3, 1] += s[i] * (y[i] * zd <= 0.0)
            if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
                rows.add4(i, a, b, c, d, v, l)
                if averaging:
                    rows.add4(i, mass[l, 0] * a, mass[l, 1] * b, mass[l, 2] * c, mass[l, 3] * d, owed, l)
        clock[0] += 1.0
        clock[2] += rows.count(i)
        if averaging:
            scale = 1.0 / (clock[0] + clock[1])
            for l in range(mass.shape[0]):
                for k in range(4):
                    mass[l, k] += scale * inverse[l, k]


@kernel
def keep_lanes(v, K, which):
    """Move the columns kept to the front, in place: the first n·len(which) entries are then the smaller matrix."""
    k = which.shape[0]
    for j in range(v.shape[0] // K):
        for c in range(k):
            v[j * k + c] = v[j * K + which[c]]


class Lanes:
    """Ridge penalties and one output, one row a round: all candidates in one kernel, four at a time."""

    survivors = (8, 4)

    def __init__(self, problem: Any, unit: float, offset: float) -> None:
        self.problem, self.labels, self.exponents, self.unit = problem, problem.labels, list(EXPONENTS), unit
        self.v = np.zeros(problem.n * len(EXPONENTS))
        self.owed, self.since = np.zeros(0), 0.0
        self.clock = np.array([0.0, offset, 0.0])  # t, what is added to it in the divisor, entries read
        self.tally = np.zeros((len(EXPONENTS), 2))
        self._set_strengths()

    def _set_strengths(self) -> None:
        self.regularizers = [self.problem.regularizer.times(self.unit * 2.0**k) for k in self.exponents]
        self.inverse = np.array([1.0 / regularizer.strong_convexity() for regularizer in self.regularizers])
        self.mass = np.zeros(len(self.exponents))

    def play(self, chunk: Chunk, order: np.ndarray, judge: bool) -> None:
        """All candidates on the same rows."""
        L = len(self.exponents) // 4
        v, owed = self.v.reshape(-1, L, 4), self.owed.reshape(-1, L, 4)
        mass, inverse, tally = self.mass.reshape(L, 4), self.inverse.reshape(L, 4), self.tally.reshape(L, 4, 2)
        rows = (chunk.design.rows, chunk.y, chunk.s, self.problem.loss)
        # Logarithms would take more time than all else: errors are enough to judge averages by, of classes.
        losses = judge and not (self.owed.size and self.labels != "real")
        play_lanes(*rows, v, owed, mass, inverse, self.clock, order, tally, judge, losses, self.since)

    def suffered(self) -> np.ndarray:
        """Losses and errors of every candidate, where they were counted."""
        return self.tally.copy()

    def keep(self, which: np.ndarray) -> None:
        """Only these go on: a multiple of four."""
        keep_lanes(self.v, len(self.exponents), which)
        self.v = self.v[: self.problem.n * len(which)]
        self.exponents = [self.exponents[j] for j in which]
        self.tally = self.tally[which].copy()
        self._set_strengths()

    def average_from_here(self) -> None:
        """Begin averages over a suffix."""
        self.owed, self.since = np.zeros(len(self.v)), float(self.clock[0])

    def iterate(self, j: int) -> Iterate:
        """Where a candidate stands, as one that ran alone would."""
        K, t = len(self.exponents), int(self.clock[0])
        lam = self.v[j::K].copy()
        tally = np.zeros(TALLIES)
        tally[ROWS], tally[ACCESSES] = t, self.clock[2]
        state = {"lambda": lam, "t": float(t), "rounds": t, "tally": tally, "total_passes": 1}
        w = lam * self.inverse[j] / (t + self.clock[1])
        if self.owed.size:
            total = self.mass[j] * lam - self.owed[j::K]
            state |= {**suffix_state(int(self.since)), "rounds": t, "total": total}
            w = total / (t - self.since)
        return Iterate(w, 1.0, int(self.clock[2]), state=state, regularizer=self.regularizers[j])
