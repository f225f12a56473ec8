"""Learning to rank on MQ2008 (LETOR 4.0, Qin & Liu 2013) in its five folds: ``python -m benchmarks.tasks.mq2008``

In each fold three of the five parts are for training, one is for choosing the strength by mean NDCG, and one is for testing. Scores follow
LETOR's evaluation script. The published results are those of RankSVM-Struct.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

import fenchel as fl
from benchmarks.common import show
from fenchel.estimators.ranker import Ranker
from fenchel.structured import letor_scores

PARTS = 5
SHOWN = ("map", "mean_ndcg", "ndcg@1", "ndcg@5", "ndcg@10")
PUBLISHED = (0.4696, 0.4832, 0.3627, 0.4695, 0.2279)
STRENGTHS = {
    "ndcg": (1.0, 0.3, 0.1, 0.03, 0.01),
    "pairwise-hinge": (0.01, 3e-3, 1e-3, 3e-4, 1e-4),
    "pairwise-squared-hinge": (0.1, 0.03, 0.01, 3e-3, 1e-3),
    "pairwise-logistic": (0.01, 3e-3, 1e-3, 3e-4, 1e-4),
}
Part = tuple[np.ndarray, np.ndarray, np.ndarray]  # documents, grades, queries


def parts() -> list[Part] | None:
    """S1 to S5 from $FENCHEL_DATA, or None if they are missing."""
    folder = Path(os.environ.get("FENCHEL_DATA", "")) / "structured"
    paths = [folder / f"ltr_mq2008_S{number}.txt.xz" for number in range(1, PARTS + 1)]
    if not all(path.exists() for path in paths):
        return None
    read = [fl.datasets.read_svmlight(path, qid=True) for path in paths]
    return [(X.toarray(), y, qid) for X, y, qid in read]


def fold(data: list[Part], number: int) -> tuple[Part, Part, Part]:
    """Training, validation and test parts."""
    turn = [data[(number + step) % PARTS] for step in range(PARTS)]
    training = tuple(np.concatenate(columns) for columns in zip(*turn[:3], strict=True))
    return training, turn[3], turn[4]  # type: ignore[return-value]


def scored(model: Ranker, part: Part) -> dict[str, float]:
    X, y, qid = part
    return letor_scores(y, model.predict(X), qid)


def chosen(loss: str, training: Part, validation: Part) -> Ranker:
    """The model whose strength gives the best score on the validation part."""
    X, y, qid = training
    models = [Ranker(loss, l2=l2, tol=1e-3).fit(X, y, qid=qid) for l2 in STRENGTHS[loss]]
    return max(models, key=lambda model: scored(model, validation)["mean_ndcg"])


def run() -> dict[str, dict[str, float]]:
    """Print the scores of every loss, for each fold and on average; return the averages."""
    data = parts()
    if data is None:
        print("MQ2008 is not in $FENCHEL_DATA/structured: nothing to run.")
        return {}
    rows, averages = [], {}
    for loss in STRENGTHS:
        clock, found = time.perf_counter(), []
        for number in range(PARTS):
            training, validation, test = fold(data, number)
            model = chosen(loss, training, validation)
            found.append(scored(model, test))
            rows.append([loss, f"{number + 1}", f"{model.l2:g}", *(f"{found[-1][name]:.4f}" for name in SHOWN), ""])
        averages[loss] = {name: float(np.mean([scores[name] for scores in found])) for name in SHOWN}
        rows.append([loss, "all", "", *(f"{averages[loss][name]:.4f}" for name in SHOWN), f"{time.perf_counter() - clock:.0f}"])
    rows.append(["RankSVM-Struct, published", "all", "", *(f"{value:.4f}" for value in PUBLISHED), ""])
    show("MQ2008, by LETOR 4.0's rules", ["loss", "fold", "l2", *SHOWN, "seconds"], rows)
    return averages


if __name__ == "__main__":
    run()
