"""The times that race.py has kept, as a table in docs/race.md and a figure beside it: ``python benchmarks/race_report.py FILE.json ...``

A cell that stands in several files is that of the last one. The text of docs/race.md around the table is kept.
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from race import TASKS, ratio

PAGE = Path(__file__).parent.parent / "docs" / "race.md"
FIGURE = PAGE.with_name("race.svg")
BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def cells_of(files: list[str]) -> list[dict[str, Any]]:
    """The cells of all files, in the order of the tasks."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for file in files:
        for cell in json.loads(Path(file).read_text()):
            found[cell["task"], cell["data"], cell["strength"], cell["tol"]] = cell
    tasks = list(TASKS)
    return sorted(found.values(), key=lambda cell: tasks.index(cell["task"]))


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}" if math.isfinite(seconds) else "–"


def row(cell: dict[str, Any]) -> str:
    best = min(cell["peers"], key=cell["peers"].get, default="")
    seconds = cell["peers"].get(best, math.inf)
    shown = f"{ratio(cell):.2f}" if math.isfinite(seconds) else "no other reached it"
    name = best if math.isfinite(seconds) else "–"
    what = [cell["task"], cell["data"], cell["shape"], cell["strength"], f"{cell['tol']:.0e}"]
    return "| " + " | ".join([*what, cell["solver"], milliseconds(cell["seconds"]), name, milliseconds(seconds), shown]) + " |"


def summary(cells: list[dict[str, Any]]) -> str:
    """One line for each task."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        ratios[cell["task"]].append(ratio(cell))
    lines = ["| task | cells | geometric mean | behind in | worst | no other package was accurate enough |", "|---|---|---|---|---|---|"]
    for task, found in ratios.items():
        finite = [value for value in found if math.isfinite(value)]
        mean, worst = (f"{math.exp(np.mean(np.log(finite))):.2f}", f"{min(finite):.2f}") if finite else ("–", "–")
        lines.append(f"| {task} | {len(found)} | {mean} | {sum(value < 1.0 for value in finite)} | {worst} | {len(found) - len(finite)} |")
    return "\n".join(lines)


def draw(cells: list[dict[str, Any]]) -> None:
    """A dot for each cell, its ratio on a logarithmic axis."""
    tasks = list(dict.fromkeys(cell["task"] for cell in cells))
    figure = Figure(figsize=(8.0, 0.55 * len(tasks) + 1.2), layout="constrained")
    axes = figure.subplots()
    for k, task in enumerate(tasks):
        ratios = np.array([ratio(cell) for cell in cells if cell["task"] == task and math.isfinite(ratio(cell))])
        spread = np.linspace(-0.25, 0.25, len(ratios)) if len(ratios) > 1 else np.zeros(len(ratios))
        axes.plot(ratios, k + spread, "o", markersize=4.0, color="#0072B2", alpha=0.7)
    axes.axvline(1.0, color="#595959", linewidth=1.0)
    axes.set(xscale="log", yticks=range(len(tasks)), yticklabels=tasks, xlabel="time of the best other package ÷ time of fenchel")
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(FIGURE, metadata={"Date": None})


def main() -> None:
    cells = cells_of(sys.argv[1:])
    heads = ["task", "data", "size", "penalty", "accuracy", "solver", "fenchel, ms", "best other", "its ms", "ratio"]
    table = "\n".join(["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *map(row, cells)])
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{summary(cells)}\n\n{table}\n\n{END}{rest.split(END)[1]}")
    draw(cells)


if __name__ == "__main__":
    main()
