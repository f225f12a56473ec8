"""Medians of runs against the number of rows"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fenchel.experiments.experiment import Rows
from fenchel.experiments.slopes import slope
from fenchel.plots.panel_figure import Curve, Panel


def medians(rows: Rows, column: str, **wanted: Any) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of rows and the median of a column at each."""
    found = rows.where(**wanted)
    counts = found.values("m")
    return np.array(counts, dtype=float), np.array([np.median(found.where(m=m)[column]) for m in counts])


def growth(rows: Rows, column: str, **wanted: Any) -> float:
    """The exponent of m in the medians that are finite."""
    return slope(*medians(rows, column, **wanted)).value


def last_to_first(rows: Rows, column: str, **wanted: Any) -> float:
    """The median at the largest m by that at the smallest m that reaches the accuracy."""
    _m, y = medians(rows, column, **wanted)
    reached = np.isfinite(y)
    return float(y[-1] / y[reached][0]) if reached[-1] and reached.sum() > 1 else math.nan


def percent(accuracy: float) -> str:
    return f"{100.0 * accuracy:.2f} %"


def time_panel(rows: Rows, accuracy: float, column: str, label: str) -> Panel:
    """Medians against m for every method, with the middle half of the runs."""
    curves = []
    for method in rows.values("method"):
        m, y = medians(rows, column, method=method, accuracy=accuracy)
        found = rows.where(method=method, accuracy=accuracy)
        low, high = (np.array([np.quantile(found.where(m=c)[column], q, method="nearest") for c in m]) for q in (0.25, 0.75))
        curves.append(Curve(method, m, np.where(np.isfinite(y), y, np.nan), low, high))
    return Panel(f"accuracy {percent(accuracy)}", "training rows m", label, curves, log_x=True, log_y=True)


def time_panels(rows: Rows) -> list[Panel]:
    """A row of panels for each data set."""
    found = []
    for data in rows.values("data"):
        part = rows.where(data=data)
        found += [time_panel(part, accuracy, "seconds", "seconds") for accuracy in part.values("accuracy")]
    return found
