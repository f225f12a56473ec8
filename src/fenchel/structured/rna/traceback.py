"""The best structure, read back from the tables of the recursion by recomputing the alternatives at each step."""

from __future__ import annotations

import numpy as np

from fenchel.core.compiled import compiled
from fenchel.structured.rna.features import END, EXTERNAL_UNPAIRED, INTERIOR, LONGEST_LOOP, MULTI_UNPAIRED, WIDTH
from fenchel.structured.rna.inside import (
    INNER,
    MANY,
    ONE,
    PAIRED,
    SEVERAL,
    external_stem,
    hairpin,
    multi_closing,
    multi_stem,
    side,
    small_loop_term,
    stacked,
)
from fenchel.structured.rna.rings import MAX_PLUS as RING


@compiled
def traceback(theta, s, pairing, least, chart, prefix, y):
    """y[i] ← the partner of base i, counted from 0, or -1."""
    for i in range(y.shape[0]):
        y[i] = -1
    # The stack of remaining work: a table and an interval i, ..., j.
    todo = np.empty((2 * s.shape[0], 3), dtype=np.int64)
    size = _externals(theta, s, pairing, chart[PAIRED], prefix, todo)
    while size > 0:
        size -= 1
        what, i, j = todo[size, 0], todo[size, 1], todo[size, 2]
        if what == PAIRED:
            y[i - 1], y[j - 1] = j - 1, i - 1
            size = _inside_pair(theta, s, i, j, least, chart, todo, size)
        elif what == ONE:
            size = _push(todo, size, PAIRED, i, _stem_end(theta, s, pairing, i, j, chart))
        else:
            size = _branches(theta, s.shape[0], what, i, j, chart, todo, size)


@compiled
def _push(todo, size, what, i, j):
    todo[size, 0], todo[size, 1], todo[size, 2] = what, i, j
    return size + 1


@compiled
def _externals(theta, s, pairing, paired, prefix, todo):
    """Push the pairs that no other pair encloses."""
    N = s.shape[0]
    size, j = 0, N - 2
    while j > 0:
        best, begin = prefix[j - 1] + theta[EXTERNAL_UNPAIRED], 0
        for i in range(1, j):
            if pairing[i * N + j] != RING.zero:
                score = prefix[i - 1] + external_stem(RING, theta, s, i, j) + paired[i * N + j]
                if score > best:
                    best, begin = score, i
        if begin > 0:
            size = _push(todo, size, PAIRED, begin, j)
        j = begin - 1 if begin > 0 else j - 1
    return size


@compiled
def _inside_pair(theta, s, i, j, least, chart, todo, size):
    """Push the contents of the loop that (i, j) closes: nothing for a hairpin, one pair, or the branches of a multi-branch loop."""
    N = s.shape[0]
    best, k, l = theta[END + side(s, i, j)] + hairpin(RING, theta, 0.0, j - i - 1), 0, 0
    for a in range(min(LONGEST_LOOP, j - i - 3 - least) + 1):
        for b in range(min(LONGEST_LOOP - a, j - i - 3 - least - a) + 1):
            inner = (i + 1 + a) * N + j - 1 - b
            if chart[PAIRED, inner] != RING.zero:
                score = _loop_score(theta, s, i, j, a, b) + (chart[PAIRED, inner] if a + b == 0 else chart[INNER, inner])
                if score > best:
                    best, k, l = score, i + 1 + a, j - 1 - b
    if multi_closing(RING, theta, s, i, j) + chart[SEVERAL, (i + 1) * N + j - 1] > best:
        return _push(todo, size, SEVERAL, i + 1, j - 1)
    return _push(todo, size, PAIRED, k, l) if k > 0 else size


@compiled
def _loop_score(theta, s, i, j, a, b):
    if a + b == 0:
        return theta[stacked(s, i, j)]
    extra = small_loop_term(s, i, j, i + 1 + a, j - 1 - b)
    return theta[END + side(s, i, j)] + theta[INTERIOR + WIDTH * a + b] + (theta[extra] if extra >= 0 else 0.0)


@compiled
def _stem_end(theta, s, pairing, i, j, chart):
    """The end of the stem that begins at i, where the bases after it up to j are unpaired."""
    N = s.shape[0]
    best, end = RING.zero, 0
    for l in range(j, i, -1):
        if pairing[i * N + l] != RING.zero:
            score = chart[PAIRED, i * N + l] + multi_stem(RING, theta, s, i, l) + (j - l) * theta[MULTI_UNPAIRED]
            if score > best:
                best, end = score, l
    return end


@compiled
def _branches(theta, N, what, i, j, chart, todo, size):
    """Split off the last branch of a table MANY or SEVERAL."""
    best, begin, more = RING.zero, 0, False
    for k in range(i, j):
        last = chart[ONE, k * N + j]
        if chart[MANY, i * N + k - 1] + last > best:
            best, begin, more = chart[MANY, i * N + k - 1] + last, k, True
        if what == MANY and (k - i) * theta[MULTI_UNPAIRED] + last > best:
            best, begin, more = (k - i) * theta[MULTI_UNPAIRED] + last, k, False
    size = _push(todo, size, ONE, begin, j)
    return _push(todo, size, MANY, i, begin - 1) if more else size
