"""The data sets of the papers, or named substitutes where they cannot be had

A real set is looked for as :func:`fenchel.datasets.load` does, without downloading it. ``note`` says what was taken and how it was
prepared. Quick runs take smaller, generated data of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import InputError
from fenchel.datasets import load, make_gaussians, make_text, with_noise_features

FEWER = 40  # a quick run has so many times fewer rows
FEWEST = 500


class PaperData(NamedTuple):
    """Training and test rows with labels −1 and +1."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    note: str


def real(name: str, split: str = "train") -> tuple[Any, Any] | None:
    """A data set if it is there; the larger label, or the one of a class, is +1."""
    try:
        found = load(name, split=split, download=False)
    except (InputError, OSError):
        return None
    return found.X, found.y


def quick_rows(m: int, quick: bool) -> int:
    """How many rows a run takes."""
    return max(FEWEST, m // FEWER) if quick else m


def signs(y: np.ndarray, positive: float | None = None) -> np.ndarray:
    """+1 for the positive class, by default the larger label, and −1 for the others."""
    return np.where(y == (y.max() if positive is None else positive), 1.0, -1.0)


def divided(X: Any, y: np.ndarray, test_rows: int, note: str, seed: int = 0) -> PaperData:
    """Random test rows, and the others for training."""
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = order[:test_rows], order[test_rows:]
    return PaperData(X[train], y[train], X[test], y[test], note)


def generated_text(m: int, t: int, n: int, nonzeros: int, seed: int = 0) -> PaperData:
    """Documents with the statistics of RCV1, of which the last ``t`` are for testing."""
    X, y = make_text(m + t, n=n, nonzeros=nonzeros, seed=seed)
    return PaperData(X[:m], y[:m], X[m:], y[m:], f"generated text, {m:,} × {n:,} with {nonzeros} words a document")


def generated_rows(m: int, t: int, n: int, separation: float, seed: int = 0) -> PaperData:
    """Two overlapping Gaussian classes; three standard deviations are 1."""
    X, y, _ = make_gaussians(m + t, n, separation=separation, seed=seed)
    X /= 3.0 * X.std()
    return PaperData(X[:m], y[:m], X[m:], y[m:], f"two generated Gaussian classes, {m:,} × {n}")


def by_largest_entries(X: Any) -> Any:
    """Columns divided by their largest absolute entry, so that entries lie in [−1, 1]."""
    top = np.abs(X).max(axis=0)
    top = np.asarray(top.toarray() if sp.issparse(top) else top).ravel()
    top[top == 0.0] = 1.0
    return sp.csr_array(X @ sp.diags_array(1.0 / top)) if sp.issparse(X) else X / top


def unit_rows(X: Any) -> Any:
    """Rows divided by their norm."""
    norms = np.sqrt(np.asarray((X.multiply(X) if sp.issparse(X) else X * X).sum(axis=1)).ravel())
    norms[norms == 0.0] = 1.0
    return sp.csr_array(sp.diags_array(1.0 / norms) @ X) if sp.issparse(X) else X / norms[:, None]


# ---- l1 methods ----


def duke(quick: bool) -> PaperData:
    """44 rows, 7,129 columns."""
    return _wide("duke", 44, 300 if quick else 7129, 1.0, quick)


def arcene(quick: bool) -> PaperData:
    """100 rows, 10,000 columns, about half of whose entries are 0."""
    return _wide("arcene", 100, 400 if quick else 10_000, 0.54, quick)


def _wide(name: str, m: int, n: int, density: float, quick: bool) -> PaperData:
    found: Any = None if quick else real(name)
    note = f"{name}, every column divided by its largest absolute entry"
    if found is None:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((m, n)) * (rng.random((m, n)) < density)
        found = X, np.sign(X[:, : max(5, n // 50)].sum(axis=1) + rng.standard_normal(m))
        note = f"generated rows of the size of {name}, {m} × {n:,}"
    X, y = found
    X = by_largest_entries(X.toarray() if sp.issparse(X) else X)
    return PaperData(X, signs(y), X[:0], y[:0], note)


def magic(kind: str, quick: bool) -> PaperData:
    """MAGIC04S and MAGIC04D: ten real columns and 1,000 of noise."""
    found: Any = None if quick else real("magic04")
    note = f"MAGIC with 1,000 {kind} columns of noise, every column divided by its largest absolute entry"
    if found is None:
        X, y, _ = make_gaussians(quick_rows(19_020, quick), 10, separation=2.0)
        found, note = (X, y), f"generated rows with 1,000 {kind} columns of noise, {len(y):,} × 1,010"
    X, y = found
    X = with_noise_features(by_largest_entries(X.toarray() if sp.issparse(X) else X), 100 if quick else 1000, kind=kind)
    return PaperData(X, signs(y), X[:0], y[:0], note)


# ---- text and tables ----


def ccat(quick: bool) -> PaperData:
    """RCV1, CCAT: 781,265 training and 23,149 test documents."""
    made = generated_text(quick_rows(781_265, quick) // (2 if quick else 1), quick_rows(23_149, quick) * (4 if quick else 1), 47_236, 75)
    return made._replace(note=f"{made.note} (in place of RCV1 CCAT, whose 781,265 documents are not at hand)")


def ccat_subset(quick: bool) -> PaperData:
    """27,613 real documents of RCV1, a fifth of them for testing."""
    found = None if quick else real("rcv1sub.ccat")
    if found is None:
        return ccat(quick)
    X, y = found
    return divided(X, signs(y), len(y) // 5, "rcv1sub.ccat: 27,613 documents of RCV1-v2")


def astro_ph(quick: bool) -> PaperData:
    """29,882 training and 32,487 test abstracts of physics."""
    found = None if quick else real("astro-ph")
    if found is not None:
        return PaperData(found[0], signs(found[1]), found[0][:0], found[1][:0], "astro-ph")
    made = generated_text(quick_rows(29_882, quick), 0, 99_757, 77, seed=1)
    return made._replace(note=f"{made.note} (in place of astro-ph)")


def cov1(quick: bool) -> PaperData:
    """Covertype, class 2 against the rest, rows of norm 1."""
    made = covtype(quick)
    return made._replace(X=unit_rows(made.X), note=f"{made.note}, rows divided by their norm")


def covtype(quick: bool) -> PaperData:
    """464,808 training and 116,204 test rows."""
    found = None if quick else real("covtype")
    if found is None:
        return generated_rows(quick_rows(464_808, quick), quick_rows(116_204, quick), 54, 1.5)
    X, y = found
    note = "covtype, class 2 against the rest, numeric columns scaled to [0, 1]; 116,204 random rows for testing"
    return divided(X, signs(y), 116_204, note)


def combined(quick: bool) -> PaperData:
    """78,823 training and 19,705 test rows with 100 columns."""
    found = None if quick else real("combined")
    if found is not None:
        X, y = found
        return divided(X, signs(y), 19_705, "combined (SensIT Vehicle), class 3 against the rest")
    # The least hinge loss of classes so far apart is 0.237; the paper prints 0.2336.
    made = generated_rows(quick_rows(78_823, quick), quick_rows(19_705, quick), 100, 2.6, seed=2)
    return made._replace(note=f"{made.note} (in place of combined)")


def a9a(quick: bool) -> PaperData:
    """32,561 training and 16,281 test rows."""
    return _with_test_file("a9a", "a9a", quick, lambda: generated_rows(quick_rows(32_561, quick), quick_rows(16_281, quick), 123, 2.0, 3))


def w8a(quick: bool) -> PaperData:
    """49,749 training and 14,951 test rows."""
    return _with_test_file("w8a", "w8a", quick, lambda: generated_rows(quick_rows(49_749, quick), quick_rows(14_951, quick), 300, 3.0, 4))


def ijcnn1(quick: bool) -> PaperData:
    """The first 35,000 training rows, and 91,701 test rows."""
    note = "ijcnn1, its first 35,000 training rows"
    found = _with_test_file("ijcnn1", note, quick, lambda: generated_rows(quick_rows(35_000, quick), quick_rows(91_701, quick), 22, 2.0, 5))
    return found._replace(X=found.X[:35_000], y=found.y[:35_000])


def mnist(quick: bool) -> PaperData:
    """60,000 training and 10,000 test digits; one class against the rest."""
    note = "mnist, digit 9 against the rest (the paper does not say which), pixels divided by 255"
    found = _with_test_file(
        "mnist", note, quick, lambda: generated_rows(quick_rows(60_000, quick), quick_rows(10_000, quick), 100, 3.0, 6), 9.0
    )
    return found._replace(X=found.X / abs(found.X).max(), X_test=found.X_test / max(abs(found.X_test).max(), 1e-9))


def connect_4(quick: bool) -> PaperData:
    """54,045 training and 13,512 test positions."""
    found = None if quick else real("connect-4")
    if found is None:
        return generated_rows(quick_rows(54_045, quick), quick_rows(13_512, quick), 126, 1.0, seed=7)
    X, y = found
    return divided(X, signs(y), 13_512, "connect-4, win against the rest; 13,512 random rows for testing")


def rcv1(quick: bool) -> PaperData:
    """20,242 training documents."""
    found = None if quick else real("rcv1sub.binary")
    if found is None:
        return generated_text(quick_rows(20_242, quick), quick_rows(5_000, quick), 47_236, 74, seed=8)
    X, y = found
    return divided(X, signs(y), 3_507, "rcv1sub.binary: 20,242 of 23,749 documents of RCV1-v2 (not those of rcv1_train.binary)")


def real_sim(quick: bool) -> PaperData:
    """57,846 training and 14,463 test documents."""
    found = None if quick else real("real-sim")
    if found is not None:
        return divided(found[0], signs(found[1]), 14_463, "real-sim; 14,463 random rows for testing")
    made = generated_text(quick_rows(57_846, quick), quick_rows(14_463, quick), 20_958, 51, seed=9)
    return made._replace(note=f"{made.note} (in place of real-sim)")


def _with_test_file(name: str, note: str, quick: bool, substitute: Callable[[], PaperData], positive: float | None = None) -> PaperData:
    train, test = (None, None) if quick else (real(name), real(name, "test"))
    if train is None or test is None:
        return substitute()
    width = max(train[0].shape[1], test[0].shape[1])
    for X in (train[0], test[0]):
        X.resize(X.shape[0], width)
    return PaperData(train[0], signs(train[1], positive), test[0], signs(test[1], positive), note)
