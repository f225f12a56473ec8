"""Generated structured data: tagged sequences, queries with graded documents, RNA with secondary structures."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fenchel.core.validation import checked_whole
from fenchel.datasets.generators import check_option

HAIRPIN = 3  # smallest number of bases between two that pair
STEM = 3  # smallest number of stacked pairs
PAIRS = ("AU", "UA", "CG", "GC", "GU", "UG")
PAIR_RATES = (0.15, 0.15, 0.3, 0.3, 0.05, 0.05)


def make_sequences(
    m: int = 100, tags: int = 5, words: int = 200, length: int = 12, stay: float = 0.6, purity: float = 0.7, seed: int = 0
) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Sentences to tag, from a hidden Markov model: token features, tags 0, 1, ..., and the sentence of each token.

    The next token has the same tag with probability ``stay``, else any other. With probability ``purity`` its word is one of the
    ``words/tags`` words of its tag, else any word, so that words alone do not determine the tag. Row t of X indicates the word of token t
    and whether it begins a sentence. Lengths are 1 plus a Poisson number, ``length`` on average.

    >>> X, y, sentence = make_sequences(10, tags=3, words=30)
    >>> X.shape[1], X.shape[0] == len(y) == len(sentence), sorted(set(sentence.tolist())) == list(range(10))
    (31, True, True)
    """
    for name, value in (("m", m), ("tags", tags), ("words", words), ("length", length)):
        checked_whole(name, value)
    check_option(tags >= 2, "tags", tags, "at least 2")
    check_option(words >= tags, "words", words, f"at least tags={tags}")
    check_option(0.0 <= stay <= 1.0, "stay", stay, "a probability")
    check_option(0.0 <= purity <= 1.0, "purity", purity, "a probability")
    rng = np.random.default_rng(seed)
    lengths = 1 + rng.poisson(length - 1, m)
    sentence = np.repeat(np.arange(m), lengths)
    tokens = len(sentence)
    starts = np.concatenate([[True], np.diff(sentence) > 0])
    y = _chain(starts, rng.integers(0, tags, tokens), rng.random(tokens) < stay, rng.integers(1, tags, tokens), tags)
    own = words // tags
    word = np.where(rng.random(tokens) < purity, y * own + rng.integers(0, own, tokens), rng.integers(0, words, tokens))
    marks = np.concatenate([word, np.full(np.count_nonzero(starts), words)])
    rows = np.concatenate([np.arange(tokens), np.flatnonzero(starts)])
    X = sp.coo_array((np.ones(len(rows)), (rows.astype(np.int32), marks.astype(np.int32))), shape=(tokens, words + 1)).tocsr()
    return sp.csr_array(X), y, sentence


def _chain(starts: np.ndarray, fresh: np.ndarray, stays: np.ndarray, step: np.ndarray, tags: int) -> np.ndarray:
    """Tags: a new one at the start of a sentence, else the previous one, or ``step`` after it modulo ``tags``."""
    moves = np.where(stays, 0, step)
    moves[starts] = 0
    total = np.cumsum(moves)
    first = np.flatnonzero(starts)[np.cumsum(starts) - 1]
    return (fresh[first] + total - total[first]) % tags


def make_ranking(
    queries: int = 100, documents: int = 20, n: int = 20, grades: int = 3, noise: float = 0.2, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Documents to rank: features, grades 0 to ``grades`` − 1, and the query of each document.

    One linear score, with normal noise of ``noise`` times its standard deviation, orders the documents of a query: the best tenth
    gets the highest grade, the next fifth the one below, and so on, doubling, the rest 0. Each query shifts the features of all
    its documents, which does not change their order: this misleads models trained on single documents, but not those trained on
    pairs.

    >>> X, y, qid = make_ranking(queries=5, documents=10)
    >>> X.shape, np.bincount(y[qid == 3].astype(int)).tolist()
    ((50, 20), [7, 2, 1])
    """
    for name, value in (("queries", queries), ("documents", documents), ("n", n), ("grades", grades)):
        checked_whole(name, value)
    check_option(documents >= 2, "documents", documents, "at least 2")
    check_option(grades >= 2, "grades", grades, "at least 2")
    check_option(noise >= 0.0 and np.isfinite(noise), "noise", noise, "a number that is not negative")
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(n) / np.sqrt(n)
    X = rng.standard_normal((queries, documents, n))
    scores = X @ w + noise * np.linalg.norm(w) * rng.standard_normal((queries, documents))
    X += rng.standard_normal((queries, 1, n))
    place = np.argsort(np.argsort(-scores, axis=1), axis=1)  # 0 for the best of a query
    ends = np.ceil(documents * 0.1 * (2.0 ** np.arange(1, grades) - 1.0))
    y = (place[:, :, None] < ends).sum(axis=2).astype(np.float64)
    return X.reshape(-1, n), y.ravel(), np.repeat(np.arange(queries), documents)


def make_rna(m: int = 100, length: int = 80, paired: float = 0.6, seed: int = 0) -> tuple[list[str], list[str]]:
    """RNA with a planted secondary structure: sequences over ACGU, and dot-bracket strings of the same lengths.

    Pairs are nested, complementary (AU, CG or GU), at least three bases apart, and come in stems of three or more. About a share
    ``paired`` of the bases pair if there is room. Lengths vary by up to a quarter around ``length``.

    >>> sequences, structures = make_rna(2, length=30)
    >>> len(sequences[0]) == len(structures[0]), set(structures[0]) <= set("(.)")
    (True, True)
    """
    checked_whole("m", m), checked_whole("length", length)
    check_option(0.0 <= paired <= 1.0, "paired", paired, "a share between 0 and 1")
    rng = np.random.default_rng(seed)
    sequences, structures = [], []
    for size in rng.integers(length - length // 4, length + length // 4 + 1, m).tolist():
        bases = rng.choice(list("ACGU"), size)
        marks = ["."] * size
        for left, right in _nested(size, paired, rng):
            marks[left], marks[right] = "(", ")"
            bases[left], bases[right] = rng.choice(PAIRS, p=PAIR_RATES)
        sequences.append("".join(bases))
        structures.append("".join(marks))
    return sequences, structures


def _nested(size: int, paired: float, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Draw stems inside or next to each other until the share is reached or no room is left."""
    pairs: list[tuple[int, int]] = []
    free = [(0, size)]  # stretches without a pair, each inside one loop
    while free and 2 * (len(pairs) + STEM) <= paired * size:
        first, last = free.pop(int(rng.integers(len(free))))
        room = last - first
        if room < 2 * STEM + HAIRPIN:
            continue
        span = int(rng.integers(2 * STEM + HAIRPIN, room + 1))
        left = first + int(rng.integers(0, room - span + 1))
        most = min((span - HAIRPIN) // 2, (int(paired * size) - 2 * len(pairs)) // 2)
        depth = int(rng.integers(STEM, most + 1))
        pairs += [(left + k, left + span - 1 - k) for k in range(depth)]
        free += [(first, left), (left + depth, left + span - depth), (left + span, last)]
    return pairs
