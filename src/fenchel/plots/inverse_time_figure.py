"""The inverse-time experiment: seconds and iterations against the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fenchel.plots.canvas import COLOURS, draw_curve, label_axes, panels


def inverse_time(sizes: Sequence[Any], accuracy: float, axes: Any = None) -> Any:
    """Draw seconds and iterations to an accuracy against the number of training rows; two axes.

    >>> from fenchel.experiments.inverse_time import Size
    >>> axes = inverse_time([Size(100, None, [2.0, 3.0], [200.0, 210.0]), Size(1000, None, [1.0, 1.2], [90.0, 95.0])], 0.9)
    >>> [panel.get_ylabel() for panel in axes]
    ['seconds to 90%', 'iterations to 90%']
    """
    from matplotlib.ticker import NullLocator

    axes = panels(2, axes)
    rows = [size.rows for size in sizes]
    for panel, name in zip(axes, ("seconds", "iterations"), strict=True):
        values = [np.array(getattr(size, name) or [np.inf]) for size in sizes]
        low, high = (np.array([np.quantile(v, q, method="nearest") for v in values]) for q in (0.25, 0.75))
        panel.fill_between(rows, low, high, where=np.isfinite(high), color=COLOURS[0], alpha=0.25, linewidth=0.0)
        draw_curve(panel, rows, [np.median(v) for v in values], 0, None)
        label_axes(panel, "training rows m", f"{name} to {100 * accuracy:.4g}%", logarithmic=True)
        panel.set_xscale("log")
        panel.set_xticks(rows, labels=[f"{count:,}" for count in rows], rotation=30)
        panel.xaxis.set_minor_locator(NullLocator())
    axes[0].figure.suptitle("Inverse time dependency: medians and interquartile ranges of the runs")
    return axes
