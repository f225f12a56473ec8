"""Handwritten words (Kassel; Taskar, Guestrin & Koller, *Max-margin Markov networks*, 2003): a chain against single letters

The ten folds are those of the data. Accuracy is the share of correct letters, with its standard deviation over the folds.
"""

from __future__ import annotations

import lzma
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import fenchel as fl
from benchmarks.common import show
from fenchel.driver import solve

L2 = 3.0  # over the number of words
FOLDS = 10
QUICK = (0,)  # folds that are left out in turn when training on nine


PATH = Path(os.environ.get("FENCHEL_DATA", "")) / "structured" / "seq_ocr_letters.tsv.xz"


def load() -> tuple[np.ndarray, list[np.ndarray], list[str]]:
    """The fold, the pixels and the letters of each word."""
    folds, X, Y = [], [], []
    with lzma.open(PATH, "rt", encoding="ascii") as file:
        for line in file:
            fold, word, images = line.rstrip("\n").split("\t")
            pixels = [np.unpackbits(np.frombuffer(bytes.fromhex(image), dtype=np.uint8)) for image in images.split()]
            folds.append(int(fold))
            X.append(np.array(pixels, dtype=np.float64))
            Y.append(word)
    return np.array(folds), X, Y


def accuracy(X: Any, Y: Any, train: np.ndarray, test: np.ndarray, loss: str, transitions: bool) -> tuple[float, float]:
    """The share of correct letters, and the seconds of training."""
    model = fl.structured.Chain(transitions=transitions, ends=transitions)
    clock = time.perf_counter()
    problem = fl.structured.Problem(model, [X[i] for i in train], [Y[i] for i in train], fl.L2(L2 / len(train)), loss=loss)
    result = solve(problem, "auto", tol=1e-2, max_passes=100)
    seconds = time.perf_counter() - clock
    return fl.structured.token_accuracy([Y[i] for i in test], problem.decode(result.w, [X[i] for i in test])), seconds


def row(folds: np.ndarray, X: Any, Y: Any, loss: str, on_nine: bool) -> list[object]:
    cells: list[object] = ["nine folds" if on_nine else "one fold", loss]
    for transitions in (False, True):
        runs = []
        for fold in QUICK if on_nine else range(FOLDS):
            one, nine = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            runs.append(accuracy(X, Y, *((nine, one) if on_nine else (one, nine)), loss, transitions))
        right, seconds = np.array(runs).T
        cells += [f"{100 * right.mean():.1f} ± {100 * right.std():.1f}", f"{np.median(seconds):.2f}"]
    return cells


def run() -> None:
    if not PATH.exists():
        print("The words are not in $FENCHEL_DATA/structured: nothing to run.")
        return
    folds, X, Y = load()
    rows = [row(folds, X, Y, loss, on_nine) for on_nine in (False, True) for loss in ("likelihood", "margin")]
    columns = ["trained on", "loss", "letters alone, %", "s to train", "chain, %", "s to train"]
    show("Handwritten words, correct letters", columns, rows)


if __name__ == "__main__":
    run()
