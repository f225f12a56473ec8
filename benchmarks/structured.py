"""Structured prediction on real tasks: held-out scores, speeds, and bundle methods for weak regularization

    python benchmarks/structured.py                 every task
    python benchmarks/structured.py ocr mq2008      some of them

The data are read from $FENCHEL_DATA/structured; a task whose data are missing reports this.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

TASKS = {
    "chains": "Viterbi and forward-backward against a pass of multiply-adds",
    "ocr": "handwritten words, chain against independent letters",
    "conll": "chunking, against python-crfsuite",
    "mq2008": "ranking in five folds",
    "rna": "RNA folding, trained on one half and tested on the other",
    "weak": "bundle methods for weak regularization (Figure 3)",
}


def main(names: list[str]) -> None:
    """Run the tasks with these names, or all."""
    unknown = [name for name in names if name not in TASKS]
    if unknown:
        sys.exit(f"There is no task {unknown[0]!r}: there are {', '.join(TASKS)}.")
    for name in names or TASKS:
        print(f"== {name}: {TASKS[name]}", flush=True)
        clock = time.perf_counter()
        importlib.import_module(f"benchmarks.tasks.{name}").run()
        print(f"({time.perf_counter() - clock:.0f} s)\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
