"""What a new user waits for: imports, and the first call of everything in a new process with an empty cache of kernels

``python benchmarks/cold_start.py [PYTHON] [NAME ...]``: PYTHON is an interpreter that has fenchel installed, such as that of an environment
with a wheel of machine code (``python -m fenchel.build_kernels``); without one it is the interpreter that runs this. NAMEs select calls.
"excess" is the first call beyond the second in the same process; kernels compiled are counted by Numba's events.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from common import show

IMPORTS = ["import fenchel", "from fenchel.estimators import LogisticRegression", "import sklearn.linear_model"]

DATA = """
import numpy as np, scipy.sparse as sp
from sklearn.datasets import load_iris, load_diabetes
dense, sparse = {}, {}
X, y = load_iris(return_X_y=True); dense["class"] = X, y
X, y = load_diabetes(return_X_y=True); dense["real"] = X, y
rng = np.random.default_rng(3)
X = sp.random(1200, 4000, 0.005, random_state=3, format="csr"); score = X @ rng.standard_normal(4000)
sparse["class"], sparse["real"] = (X, np.digitize(score, np.quantile(score, [0.3, 0.6]))), (X, score)
words = [["a", "dog", "barks"], ["the", "cat", "sleeps"]] * 5
tags = [["D", "N", "V"], ["D", "N", "V"]] * 5
bases, pairs = ["GGGAAAACCC", "GCGAAAGCGA"] * 3, ["(((....)))", "(((...)))."] * 3
Xr, yr, qid = dense["real"][0][:60], np.arange(60) % 3, np.repeat(np.arange(12), 5)
"""

RUN = """
import json, os, sys, time, warnings
warnings.simplefilter("ignore")
from numba.core import event
found = []
class Listener(event.Listener):
    def on_start(self, event): found.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event): pass
event.register("numba:compile", Listener())
{data}
import fenchel as fl
{setup}
def call():
    {call}
times = []
for _ in range(2):
    clock = time.perf_counter(); call(); times.append(time.perf_counter() - clock)
print(json.dumps([times, len(found), found[:5]]), file=sys.stderr)
"""

ESTIMATORS = {
    "class": ("LogisticRegression", "LinearSVC", "SGDClassifier", "LinearClassifier", "LogisticRegressionCV"),
    "real": ("Ridge", "Lasso", "ElasticNet", "LinearSVR", "SGDRegressor", "LinearRegressor", "RidgeCV", "LassoCV", "ElasticNetCV"),
}
STRUCTURED = {
    "Tagger": "fl.Tagger().fit(words, tags).predict(words)",
    "RnaFolder": "fl.RnaFolder().fit(bases, pairs).predict(bases)",
    "Ranker": "fl.Ranker().fit(Xr, yr, qid=qid).predict(Xr)",
    "StructuredSVM": "fl.StructuredSVM(fl.structured.Multiclass()).fit(*dense['class'])",
    "ConditionalRandomField": "fl.ConditionalRandomField(fl.structured.Multiclass()).fit(*dense['class'])",
}
FILES = """
import tempfile, contextlib
from fenchel.cli import app
os.chdir(tempfile.mkdtemp())
fl.datasets.write_svmlight("t.svm", *sparse["class"])
with open("t.csv", "w") as file:
    file.write("a,b,c\\n" + "".join("%g,%g,%s\\n" % (i % 7, (i * i) % 11, "yes" if (i * i) % 11 > i % 7 else "no") for i in range(200)))
fl.datasets.write_conll("t.conll", words, tags)
fl.datasets.write_svmlight("t.letor", sp.csr_matrix(Xr), yr, qid=qid)
fl.datasets.write_dbn("t.dbn", [("r%d" % i, s, b) for i, (s, b) in enumerate(zip(bases, pairs))])
def run(*words):
    with contextlib.redirect_stdout(open(os.devnull, "w")):
        app([*words], standalone_mode=False)
"""
COMMANDS = {
    "fenchel train t.csv, predict": ["train t.csv --target c --model m", "predict m t.csv -o out.csv"],
    "fenchel train t.svm, predict": ["train t.svm --model m", "predict m t.svm -o out.csv"],
    "fenchel tag train, predict": ["tag train t.conll --model m", "tag predict m t.conll -o out.conll"],
    "fenchel rank train, predict": ["rank train t.letor --model m", "rank predict m t.letor -o out.txt"],
    "fenchel fold train, predict": ["fold train t.dbn --model m", "fold predict m t.dbn -o out.dbn"],
}


def calls() -> dict[str, tuple[str, str]]:
    """Set-up and call of everything, by name."""
    found = {}
    for kind, names in ESTIMATORS.items():
        for name in names:
            for stored in ("dense", "sparse"):
                found[f"{name}, {stored}"] = "", f"fl.{name}().fit(*{stored}['{kind}']).predict({stored}['{kind}'][0])"
    found |= {name: ("", call) for name, call in STRUCTURED.items()}
    for name, lines in COMMANDS.items():
        found[name] = FILES, "; ".join(f"run(*{line.split()!r})" for line in lines)
    return found


def measured(python: str, setup: str, call: str) -> tuple[list[float], int, list[str]]:
    """Seconds of the first and the second call in a new process with an empty cache, and the kernels compiled."""
    with tempfile.TemporaryDirectory() as cache:
        code = RUN.format(data=DATA, setup=setup, call=call)
        environment = {**os.environ, "FENCHEL_CACHE": cache}
        done = subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True, check=True, cwd=cache)
    times, count, names = json.loads(done.stderr.splitlines()[-1])
    return times, count, names


def seconds_of(python: str, statement: str) -> float:
    code = f"import time; clock = time.perf_counter()\n{statement}\nprint(time.perf_counter() - clock)"
    return min(float(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(5))


def main() -> None:
    python, *chosen = sys.argv[1:] or [sys.executable]
    if not Path(python).exists():
        python, chosen = sys.executable, [python, *chosen]
    if not chosen:
        rows: list[list[object]] = [[statement, seconds_of(python, statement)] for statement in IMPORTS]
        show("Imports, best of five", ["statement", "seconds"], rows)
    rows = []
    for name, (setup, call) in calls().items():
        if not chosen or any(part in name for part in chosen):
            (first, second), count, kernels = measured(python, setup, call)
            rows.append([name, first, second, first - second, count, ", ".join(kernels)])
    show("First calls, in seconds", ["call", "first", "second", "excess", "kernels compiled", "such as"], rows)


if __name__ == "__main__":
    main()
