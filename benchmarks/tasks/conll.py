"""CoNLL-2000 chunking: F1 on its test set, and the time to python-crfsuite's objective on the same features (pip install python-crfsuite)

CRFsuite minimises Σ loss + c2·‖w‖² over observed pairs of attribute and tag, observed transitions and no start or stop weights: this is
the mean loss plus l2/2·‖w‖² with l2 = 2·c2/m.
"""

from __future__ import annotations

import os
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fenchel as fl
from benchmarks.common import show
from fenchel.driver import solve

C2 = 1.0
MARGIN_L2 = 1.0  # over m
MARGIN_PASSES = 40


class Text(NamedTuple):
    X: Any
    Y: Any


FOLDER = Path(os.environ.get("FENCHEL_DATA", "")) / "structured"


def load(part: str) -> Text:
    path = FOLDER / f"seq_conll2000_{part}.txt.xz"
    words, pos, chunks = fl.datasets.read_conll(path)
    return Text(fl.structured.token_features(w=words, pos=pos), chunks)


class Run(NamedTuple):
    name: str
    objective: float  # Σ loss + c2·‖w‖²
    features: int
    passes: float
    prepared: float  # seconds to load the data
    seconds: float
    processor: float
    F1: float

    def cells(self) -> list[object]:
        return [
            self.name,
            f"{self.objective:,.1f}" if np.isfinite(self.objective) else "-",
            f"{self.features:,}",
            f"{self.passes:.0f}",
            *(f"{value:.1f}" for value in (self.prepared, self.seconds, self.processor)),
            f"{100 * self.F1:.2f}",
        ]


def crfsuite(train: Text, test: Text) -> Run:
    import pycrfsuite

    trainer, clock = pycrfsuite.Trainer(verbose=False), time.perf_counter()
    for x, y in zip(train.X, train.Y, strict=True):
        trainer.append(x, y)
    prepared = time.perf_counter() - clock
    trainer.set_params({"c1": 0.0, "c2": C2})
    with tempfile.TemporaryDirectory() as folder:
        clock, processor = time.perf_counter(), time.process_time()
        trainer.train(f"{folder}/model")
        seconds, processor = time.perf_counter() - clock, time.process_time() - processor
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/model")
        said = [tagger.tag(x) for x in test.X]
        tagger.close()
    log = trainer.logparser
    scores = fl.structured.chunk_scores(test.Y, said)
    trials = sum(int(step["linesearch_trials"]) for step in log.iterations)
    return Run("crfsuite", log.iterations[-1]["loss"], log.featgen_num_features, trials, prepared, seconds, processor, scores["f1"])


def likelihood(train: Text, test: Text, target: float, threads: int) -> Run:
    clock, m = time.perf_counter(), len(train.X)
    model = fl.structured.Chain(transitions="observed", ends=False)
    problem = fl.structured.Problem(model, train.X, train.Y, fl.L2(2.0 * C2 / m), loss="likelihood")
    prepared = time.perf_counter() - clock
    problem.objective(np.full(problem.n, 1e-3))  # compile kernels or load them before the timing starts
    clock, processor = time.perf_counter(), time.process_time()
    result = solve(problem, "lbfgs", tol=0.0, max_passes=400, threads=threads, callback=lambda now: m * now.objective <= target)
    seconds, processor = time.perf_counter() - clock, time.process_time() - processor
    scores = fl.structured.chunk_scores(test.Y, problem.decode(result.w, test.X))
    name = f"fenchel, {threads} thread{'s' * (threads > 1)}"
    return Run(name, m * result.objective, problem.n, result.passes, prepared, seconds, processor, scores["f1"])


def margin(train: Text, test: Text) -> Run:
    clock, m = time.perf_counter(), len(train.X)
    problem = fl.structured.Problem(fl.structured.Chain(), train.X, train.Y, fl.L2(MARGIN_L2 / m))
    prepared = time.perf_counter() - clock
    clock, processor = time.perf_counter(), time.process_time()
    result = solve(problem, "auto", tol=1e-2, max_passes=MARGIN_PASSES)
    seconds, processor = time.perf_counter() - clock, time.process_time() - processor
    scores = fl.structured.chunk_scores(test.Y, problem.decode(result.w, test.X))
    name = f"fenchel, margin, {result.solver}, gap {result.gap / problem.objective_at_zero:.1g}"
    return Run(name, np.nan, problem.n, result.passes, prepared, seconds, processor, scores["f1"])


def run() -> None:
    if not (FOLDER / "seq_conll2000_train.txt.xz").exists():
        print("CoNLL-2000 is not in $FENCHEL_DATA/structured: nothing to run.")
        return
    train, test = load("train"), load("test")
    theirs = [crfsuite(train, test)] if find_spec("pycrfsuite") else []
    target = theirs[0].objective if theirs else 0.0
    runs = [*theirs, *(likelihood(train, test, target, threads) for threads in (1, 2)), margin(train, test)]
    columns = ["", "objective", "weights", "passes", "s to prepare", "s to train", "processor s", "F1"]
    show(f"CoNLL-2000 chunking, c2 = {C2}", columns, [each.cells() for each in runs])


if __name__ == "__main__":
    run()
