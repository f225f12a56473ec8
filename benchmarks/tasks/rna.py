"""RNA folding on S-151 (Do, Woods, Batzoglou 2006): train on one half, test on the other, and the time of folding

The halves, A and B, share no family; file names identify them. The published scores of CONTRAfold at γ = 6 are
means over sequences; thermodynamic methods reach 0.69 and 0.59 to 0.61. The strength of the penalty is chosen on a held-out third of the
training half. A margin gives no probabilities, so its structures are those with the highest score.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import show
from fenchel.datasets import RnaRecord, read_bpseq
from fenchel.estimators.rna_folder import RnaFolder
from fenchel.structured.oracle import decode_all, loss_and_slope, measured, split_by_work
from fenchel.structured.rna import RnaFold, accuracy
from fenchel.structured.training_losses import LOSSES

GAMMA = 6.0
GRIDS = {"likelihood": (0.01, 0.03, 0.1), "margin": (0.0003, 0.001, 0.003)}
OPTIONS: dict[str, dict[str, Any]] = {"likelihood": {"gamma": GAMMA}, "margin": {"missed": 3.0}}
PUBLISHED = [["CONTRAfold, published", "", 0.7377, 0.6686, ""], ["thermodynamic, published", "", 0.69, 0.60, ""]]


def halves() -> dict[str, list[RnaRecord]] | None:
    """The two halves of S-151, or None if it is missing."""
    path = Path(os.environ.get("FENCHEL_DATA", ""), "structured", "rna_s151rfam_bpseq.tar.xz")
    if not os.environ.get("FENCHEL_DATA") or not path.exists():
        return None
    records = read_bpseq(path)
    return {half: [record for record in records if record.name.endswith(half)] for half in "AB"}


def columns(records: list[RnaRecord]) -> tuple[list[str], list[str]]:
    return [record.sequence for record in records], [record.structure for record in records]


def chosen(loss: str, records: list[RnaRecord]) -> float:
    """The strength with the best F1 on every third sequence when trained on the others."""
    held = records[::3]
    rest = [record for k, record in enumerate(records) if k % 3]
    scores = {l2: RnaFolder(loss, l2=l2, **OPTIONS[loss]).fit(*columns(rest)).score(*columns(held)) for l2 in GRIDS[loss]}
    return max(scores, key=lambda l2: scores[l2])


def two_fold(loss: str, data: dict[str, list[RnaRecord]]) -> list[list[object]]:
    truths: list[str] = []
    folded: list[str] = []
    strengths, clock = [], time.perf_counter()
    for train, test in ("AB", "BA"):
        strengths.append(chosen(loss, data[train]))
        folder = RnaFolder(loss, l2=strengths[-1], **OPTIONS[loss]).fit(*columns(data[train]))
        sequences, structures = columns(data[test])
        truths += structures
        folded += folder.predict(sequences)
    seconds = time.perf_counter() - clock
    name = f"fenchel, {loss}" + (", γ = 6" if loss == "likelihood" else "")
    described = f"l2 {strengths[0]:g} and {strengths[1]:g}, {seconds:.0f} s"
    return [[name, average, *accuracy(truths, folded, average), described] for average in ("sequences", "pairs")]


def fastest(action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    times = []
    for _ in range(4):
        begin = clock()
        action()
        times.append(clock() - begin)
    return min(times[1:])


def speeds(data: dict[str, list[RnaRecord]]) -> list[list[object]]:
    rng = np.random.default_rng(0)
    model, w = RnaFold(), 0.3 * rng.standard_normal(336)
    one = model.examples(["".join(rng.choice(list("ACGU"), 200))])
    all_of_them = model.examples(*columns(data["A"] + data["B"]))
    work, m = measured(all_of_them)[0], all_of_them.count()
    rows: list[list[object]] = [["decode one of 200 bases, ms", 1e3 * fastest(lambda: decode_all(one, w, 1), time.thread_time), ""]]
    for loss in LOSSES:
        split = {threads: split_by_work(work, threads) for threads in (1, 2)}
        seconds = [fastest(lambda: loss_and_slope(all_of_them, LOSSES[loss], np.ones(m) / m, split[t], w)) for t in (1, 2)]  # noqa: B023
        rows.append([f"{loss} of all 151 with its subgradient, s", *seconds])
    return rows


def run() -> None:
    data = halves()
    if data is None:
        print("S-151 is not in $FENCHEL_DATA/structured: nothing to run.")
        return
    show("Time to fold (scores drawn at random)", ["what", "one thread", "two threads"], speeds(data))
    rows = [row for loss in GRIDS for row in two_fold(loss, data)]
    show("S-151, two-fold: trained on one half, tested on the other", ["method", "means over", "sensitivity", "PPV", ""], rows + PUBLISHED)


if __name__ == "__main__":
    run()
