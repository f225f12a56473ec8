"""Run the experiments of the papers: data, figure and verdicts in a folder for each

``rows.csv`` has the rows of all parts and is written after each, so that an interrupted run goes on with the parts that are missing. The
figure and the verdicts are computed from it.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fenchel import plots
from fenchel.core.atomic_files import replacing
from fenchel.core.errors import Argument, InputError
from fenchel.core.threads import one_thread
from fenchel.core.validation import checked_choice
from fenchel.experiments import asdca_paper, l1_paper, pgs_paper, prox_paper
from fenchel.experiments.experiment import PAPERS, Experiment, Rows
from fenchel.plots.panel_figure import panel_figure

ROWS, PROGRESS, VERDICTS = "rows.csv", "progress.json", "verdicts.json"
DIGITS = 6  # significant, of numbers in files

Told = Callable[[Experiment, str, int, int], None]  # the experiment, the part that begins, its number and how many there are


def experiments() -> dict[str, Experiment]:
    """All experiments by name, in the order of the papers.

    >>> list(experiments())[:2]
    ['pgs-fig5', 'pgs-fig6']
    """
    papers = (pgs_paper, asdca_paper, l1_paper, prox_paper)
    return {experiment.name: experiment for paper in papers for experiment in paper.EXPERIMENTS}


def chosen(names: list[str]) -> list[Experiment]:
    """The experiments of these names, each once."""
    known = experiments()
    return [known[str(checked_choice("name", name, known))] for name in dict.fromkeys(names)]


@one_thread
def reproduce(experiment: Experiment, out: Path, quick: bool, told: Told | None = None) -> dict[str, Any]:
    """Measure the parts that ``out`` does not have yet, draw the figure, judge the claims; the content of ``verdicts.json``."""
    folder = out / experiment.name
    folder.mkdir(parents=True, exist_ok=True)
    rows, seconds = _measured(experiment, folder, quick, told)
    figure = panel_figure(experiment.panels(rows), experiment.columns, f"{experiment.source}: {experiment.title}")
    for ending in (".png", ".svg"):
        plots.save(figure, folder / f"figure{ending}")
    found = verdicts(experiment, rows, quick, seconds)
    if experiment.table is not None:
        found["table"] = [list(line) for line in ([experiment.table(rows).heads, *experiment.table(rows).lines])]
    with replacing(folder / VERDICTS) as file:
        file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return found


def verdicts(experiment: Experiment, rows: Rows, quick: bool, seconds: float) -> dict[str, Any]:
    """Every claim with its verdict and the numbers that decided it."""
    claims = []
    for claim in experiment.claims:
        finding = claim.judge(rows)
        claims.append(
            {
                "claim": claim.sentence,
                "source": claim.source,
                "rule": claim.rule,
                "verdict": finding.verdict,
                "numbers": {name: _plain(value) for name, value in finding.numbers.items()},
                **({"investigation": claim.investigation} if claim.investigation and finding.verdict != "holds" else {}),
            }
        )
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "paper": PAPERS[experiment.paper],
        "source": experiment.source,
        "data": experiment.data,
        "command": f"fenchel reproduce {experiment.name}{' --quick' if quick else ''} --out DIR",
        "quick": quick,
        "seconds": round(seconds, 1),
        "machine": machine(),
        "claims": claims,
    }


def machine() -> dict[str, Any]:
    """The processor and the number of cores, and the version of Python."""
    name = platform.processor() or platform.machine()
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        name = next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")), name)
    except OSError:
        pass
    return {"processor": name, "cores": os.cpu_count(), "python": platform.python_version()}


def _measured(experiment: Experiment, folder: Path, quick: bool, told: Told | None) -> tuple[Rows, float]:
    """The rows of all parts, those of earlier runs included, and the seconds that they took."""
    parts = experiment.parts(quick)
    finished: dict[str, float] = _progress(folder, quick)
    rows = [row for row in _read(folder / ROWS) if row["part"] in finished]
    for number, part in enumerate(parts):
        if part.name in finished:
            continue
        if told is not None:
            told(experiment, part.name, number, len(parts))
        clock = time.perf_counter()
        rows += [{"part": part.name, **row} for row in part.measure()]
        finished[part.name] = time.perf_counter() - clock
        _write(folder / ROWS, rows)
        with replacing(folder / PROGRESS) as file:
            file.write_text(json.dumps({"quick": quick, "seconds of the parts": finished}, indent=1), encoding="utf-8")
    order = {part.name: k for k, part in enumerate(parts)}
    # Read again, so that verdicts depend on the file alone.
    known = sorted((row for row in _read(folder / ROWS) if row["part"] in order), key=lambda row: order[row["part"]])
    return Rows(known), sum(finished[name] for name in order)


def _progress(folder: Path, quick: bool) -> dict[str, float]:
    """The parts that are finished, with their seconds; an error if they are of the other kind of run."""
    try:
        found = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
        finished = {str(name): float(seconds) for name, seconds in found["seconds of the parts"].items()}
        was_quick = bool(found["quick"])
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{folder / PROGRESS} is damaged: remove the folder to begin again.") from None
    if was_quick is not quick:
        kind = "quick" if was_quick else "full"
        raise InputError(
            Argument("out", str(folder.parent)), f" has a {kind} run of {folder.name}: give another folder, or remove that one."
        )
    return finished


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _shown(value) for name, value in row.items()} for row in rows)
    with replacing(path) as file:
        file.write_text(text.getvalue(), encoding="utf-8")


def _read(path: Path) -> Iterator[dict[str, Any]]:
    """Rows as they were written; empty cells are left out."""
    if not path.exists():
        return
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield {name: value if name == "part" else _number(value) for name, value in row.items() if value not in ("", None)}


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _shown(value: Any) -> Any:
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else value


def _plain(value: Any) -> Any:
    """A number as JSON can hold it, rounded."""
    if isinstance(value, (str, bool, int)):
        return value
    number = float(value)
    return float(f"{number:.4g}") if math.isfinite(number) else str(number)
