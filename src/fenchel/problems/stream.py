"""Rows that come in chunks and are read once: for data that do not fit in memory, or are still arriving"""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import Argument, InputError, InputTypeError, prefixed
from fenchel.core.threads import available_threads
from fenchel.linalg.design import Design
from fenchel.linalg.storage import INT32_MAX
from fenchel.losses.loss_protocol import Loss
from fenchel.problems.labels import checked_chunk_labels
from fenchel.problems.objective import Chunk, Objective
from fenchel.problems.row_order import row_order
from fenchel.regularizers.regularizer_protocol import Regularizer

Part = tuple[Design, np.ndarray, np.ndarray]  # rows, labels and weights, checked


class _Reading:
    """How far a stream has been read."""

    first: Part | None = None  # the next chunk, if it has been read already

    def __init__(self, chunks: Iterator[Any]) -> None:
        self.begin(chunks)

    def begin(self, chunks: Iterator[Any]) -> None:
        """Read from the beginning."""
        self.chunks, self.number = chunks, 0

    rows = size = 0  # read so far, in all passes, and bytes of their entries


class Stream(Objective):
    """A loss and a regularizer on rows that arrive in chunks, for the online solvers; no more than one chunk is held.

    Args:
        chunks: an iterable of ``(X, y)`` or ``(X, y, sample_weight)``, or a function without arguments that returns one.
            Weights count as they are; they should be 1 on average. A path, a pattern or a list of them is read by
            :func:`fenchel.datasets.chunks`.
        loss: as in :class:`fenchel.Problem`.
        regularizer: as in :class:`fenchel.Problem`.
        features: how many columns X has; those of the first chunk by default. Sparse chunks may have fewer.
        classes: how many classes there are, for a multiclass loss.
        intercept: the value of a constant feature, as in :class:`fenchel.Problem`.
        passes: how often to read the chunks; more than once needs an iterable that can be read again, or a function.

    No row is read twice, so that a result is evaluated on the way: ``objective`` is the mean loss of every row just before it was
    used for a step, plus the penalty of the weights: an estimate of the loss on new rows, but not P(w). ``dual_objective``
    is a proven lower bound on the smallest objective that any weights have on the rows read. ``gap`` is nan: no certificate
    of w itself is possible without reading the rows again.

    >>> import fenchel as fl
    >>> rng = np.random.default_rng(0)
    >>> def chunks():
    ...     for _ in range(20):
    ...         X = rng.standard_normal((100, 5))
    ...         yield X, np.sign(X[:, 0])
    >>> result = fl.minimize(fl.Stream(chunks(), fl.Logistic(), fl.L2(1e-3)), solver="pgs")
    >>> result.status, int(np.argmax(result.w))
    ('exhausted', 0)
    """

    in_memory = False

    def __init__(
        self,
        chunks: Iterable[Any] | Callable[[], Iterable[Any]] | str | os.PathLike[str],
        loss: Loss,
        regularizer: Regularizer,
        *,
        features: int | None = None,
        classes: int | None = None,
        intercept: float = 0.0,
        passes: int = 1,
    ) -> None:
        super().__init__(loss, regularizer, intercept)
        chunks = _of_files(chunks, features) if _are_files(chunks) else chunks
        self._source, self.passes = chunks, _checked_passes(passes, chunks)
        self.threads = available_threads()
        self.outputs = self._checked_classes(classes)
        self.width = _checked_features(features)
        self._reading = _Reading(self._open())  # shared by copies of the stream, so that only one of them holds a chunk
        self._reading.first = self._next_part()
        if self._reading.first is None:
            raise InputError("The stream has no chunks: give at least one with rows.")
        design, y, _ = self._reading.first
        self.width, self.n = design.width, design.n
        self.density = max(1.0, design.nnz / design.m)
        self._check_fit(y)
        # The same for all streams of one kind, so that a run may continue on another one.
        self.token = repr((self.loss, self.regularizer, self.n, self.outputs, self.intercept))

    def __repr__(self) -> str:
        return f"Stream({self.n:,} features, {self.loss!r}, {self.regularizer!r})"

    def chunks(self, sampling: str, rng: np.random.Generator, batch: int) -> Iterator[Chunk]:
        """The chunks in the order they arrive, in whole batches: the rows left over are joined to the next chunk."""
        self._read_first()
        for done in range(self.passes):
            waiting: Part | None = None
            while (part := self._take()) is not None:
                part = part if waiting is None else self._joined(waiting, part)
                kept = part[0].m - part[0].m % batch
                waiting = self._rest(part, kept) if kept < part[0].m else None
                if kept:
                    yield Chunk(*part, row_order(kept, sampling, rng), float(done))
                del part
            if waiting is not None:
                yield Chunk(*waiting, row_order(waiting[0].m, sampling, rng), float(done))
            if self._reading.number == 0:
                raise InputError(f"The stream has no chunks in pass {done + 1}: give a list, or a function that starts again every time.")
            if done + 1 < self.passes:
                self._reading.begin(self._open())

    def limited(self, max_passes: float, threads: int | None) -> Stream:
        """The same stream, read at most so many times."""
        other = copy.copy(self)
        other.passes = math.ceil(min(max(max_passes, 1.0), self.passes))
        other.threads = threads or self.threads
        return other

    def replace(self, *, regularizer: Regularizer) -> Stream:
        """The same stream under another regularizer."""
        return self._changed(regularizer=regularizer)

    def sample(self) -> Chunk:
        """A sample of the rows: the first chunk."""
        self._read_first()
        design, y, s = self._reading.first  # type: ignore[misc]
        return Chunk(design, y, s, np.arange(design.m))

    def _rest(self, part: Part, first: int) -> Part:
        """A copy of the rows from ``first`` on."""
        design, y, s = part
        return Design(design.storage[first:].copy(), self.intercept, self.width, check_finite=False), y[first:].copy(), s[first:].copy()

    def _joined(self, first: Part, second: Part) -> Part:
        rows = [part[0].storage for part in (first, second)]
        if any(sp.issparse(X) for X in rows):
            sparse = [sp.csr_array(X) for X in rows]  # new matrices on the same arrays: the user's keep their shape
            wide = [sp.csr_array((A.data, A.indices, A.indptr), shape=(A.shape[0], self.width)) for A in sparse]
            X = sp.vstack(wide, format="csr")
        else:
            X = np.vstack(rows)
        joined = Design(X, self.intercept, self.width, check_finite=False)
        return joined, np.concatenate([first[1], second[1]]), np.concatenate([first[2], second[2]])

    def _read_first(self) -> None:
        """Read the first chunk, also of a stream that has been read before."""
        if self._reading.first is not None:
            return
        if isinstance(self._source, Iterator):
            raise InputError("The stream has been read, and an iterator can be read only once: make a new one.")
        self._reading.begin(self._open())
        self._reading.first = self._next_part()

    def _open(self) -> Iterator[Any]:
        chunks = self._source() if callable(self._source) else self._source
        if not isinstance(chunks, Iterable):
            raise InputTypeError(f"The function given as chunks must return an iterable of (X, y) pairs, not {type(chunks).__name__}.")
        return iter(chunks)

    def _take(self) -> Part | None:
        first, self._reading.first = self._reading.first, None
        return first if first is not None else self._next_part()

    def _next_part(self) -> Part | None:
        """The next chunk that has rows, checked."""
        for item in self._reading.chunks:
            self._reading.number += 1
            try:
                part = self._checked(item)
            except (TypeError, ValueError) as error:
                raise prefixed(f"Chunk {self._reading.number} of the stream: ", error) from None
            if part is not None:
                self._reading.rows += part[0].m
                self._reading.size += part[0].bytes
                return part
        return None

    @property
    def rows_read(self) -> int:
        """How many rows have been read so far."""
        return self._reading.rows

    @property
    def bytes_read(self) -> int:
        """The bytes of the entries of those rows."""
        return self._reading.size

    def _checked(self, item: Any) -> Part | None:
        if not isinstance(item, (tuple, list)) or len(item) not in (2, 3):
            raise InputTypeError(f"a chunk is a pair (X, y), or a triple with weights, and this is {type(item).__name__}.")
        if len(getattr(item[0], "shape", ())) == 2 and item[0].shape[0] == 0:
            return None
        design = Design(item[0], self.intercept, self.width)
        width = design.storage.shape[1]
        if width > design.width or (width < design.width and not sp.issparse(design.storage)):
            raise InputError(
                f"X has {width:,} columns where {self.width:,} are expected: give Stream the ",
                Argument("features", ...),
                ", or make chunks of one width.",
            )
        y = checked_chunk_labels(item[1], design.m, self.labels, type(self.loss).__name__, self.outputs)
        return design, y, _checked_row_weights(item[2] if len(item) == 3 else None, design.m)

    def _checked_classes(self, classes: int | None) -> int:
        if not self.vector_valued:
            if classes is not None:
                raise InputError(Argument("classes", classes), f": {type(self.loss).__name__} is not a multiclass loss, leave it out.")
            return 1
        if not isinstance(classes, (int, np.integer)) or classes < 2:
            raise InputError(
                Argument("classes", classes), f": {type(self.loss).__name__} on a stream needs the number of classes, at least 2."
            )
        return int(classes)


def _are_files(chunks: Any) -> bool:
    """Whether a source of rows is a path, or a list of paths."""
    named = [chunks] if isinstance(chunks, str | os.PathLike) else chunks if isinstance(chunks, list | tuple) else []
    return bool(named) and all(isinstance(part, str | os.PathLike) for part in named)


def _of_files(paths: Any, features: int | None) -> Callable[[], Iterable[Any]]:
    """A function that reads files from the beginning."""
    from fenchel.datasets import chunks

    return lambda: chunks(paths, features=features)


def _checked_passes(passes: Any, chunks: Any) -> int:
    if not isinstance(passes, (int, np.integer)) or passes < 1:
        raise InputError(Argument("passes", passes), ": give a whole number of at least 1.")
    if not (callable(chunks) or isinstance(chunks, Iterable)):
        raise InputTypeError(f"chunks must be an iterable of (X, y) pairs, or a function that returns one, not {type(chunks).__name__}.")
    if passes > 1 and isinstance(chunks, Iterator):
        raise InputError(
            Argument("passes", passes), ": an iterator can be read only once; give a list, or a function that starts a new one."
        )
    return int(passes)


def _checked_row_weights(weights: Any, m: int) -> np.ndarray:
    if weights is None:
        return np.ones(m)
    try:
        s = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        s = np.zeros(0)
    if s.shape != (m,) or not (np.isfinite(s) & (s >= 0.0)).all():
        raise InputError(Argument("sample_weight"), f" must be {m} finite numbers that are not negative.")
    return s


def _checked_features(features: Any) -> int | None:
    if features is None:
        return None
    if not isinstance(features, (int, np.integer)) or isinstance(features, bool) or not 1 <= features <= INT32_MAX:
        raise InputError(Argument("features", features), f": give the number of columns, between 1 and {INT32_MAX:,}.")
    return int(features)
