"""Figures of several panels, each with curves that share its axes"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fenchel.plots.canvas import COLOURS, GREY, draw_curve, label_axes, new_figure

WIDTH, HEIGHT = 3.6, 2.9  # of a panel, in inches
LEGEND = 0.32  # height of a row of the legend
FEW_DECADES = 1.7  # on an axis, below which 2 and 5 are labelled too


class Curve(NamedTuple):
    """Points that belong together; curves of the same label look the same in every panel."""

    label: str
    x: Any
    y: Any
    low: Any = None  #: the ends of a band around the curve
    high: Any = None
    is_printed: bool = False  #: numbers from a paper, drawn as hollow points


class Panel(NamedTuple):
    """What one pair of axes shows."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    log_x: bool = False
    log_y: bool = False
    names: Sequence[str] = ()  #: of the positions 0, 1, … on the x axis, if these are not numbers


def panel_figure(panels: Sequence[Panel], columns: int = 3, title: str = "") -> Any:
    """Draw panels in rows of ``columns``, with one legend below them; the figure.

    >>> figure = panel_figure([Panel("a", "m", "seconds", [Curve("pgs", [1, 2], [3.0, 2.0])])] * 2)
    >>> len(figure.axes), figure.legends[0].get_texts()[0].get_text()
    (2, 'pgs')
    """
    labels = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    in_a_row = max(1, min(len(labels), round(columns * WIDTH / 1.8)))
    figure = new_figure(columns * WIDTH, rows * HEIGHT + LEGEND * -(-len(labels) // in_a_row))
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.ravel()[len(panels) :]:
        axes.remove()
    handles: dict[str, Any] = {}
    for axes, panel in zip(grid.ravel(), panels, strict=False):
        _draw(axes, panel, labels, handles)
    figure.suptitle(title)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=in_a_row, frameon=False)
    return figure


def _draw(axes: Any, panel: Panel, labels: list[str], handles: dict[str, Any]) -> None:
    for curve in panel.curves:
        k = labels.index(curve.label)
        if curve.is_printed:
            style = {"linestyle": "none", "marker": "D", "markerfacecolor": "none", "markeredgecolor": GREY, "markersize": 6.0}
            axes.plot(curve.x, curve.y, label=curve.label, **style)
        else:
            draw_curve(axes, curve.x, curve.y, k, curve.label)
        if curve.low is not None and curve.high is not None:
            high = np.asarray(curve.high, dtype=float)
            axes.fill_between(curve.x, curve.low, high, where=np.isfinite(high), color=COLOURS[k % len(COLOURS)], alpha=0.2, linewidth=0.0)
        handles.setdefault(curve.label, axes.lines[-1])
    if panel.names:
        for line in axes.lines:
            line.set_linestyle("none")
        axes.set_xticks(range(len(panel.names)), labels=panel.names, rotation=45, ha="right")
    label_axes(axes, panel.x, panel.y, logarithmic=panel.log_y)
    if panel.log_x:
        axes.set_xscale("log")
    for axis, is_logarithmic in ((axes.xaxis, panel.log_x), (axes.yaxis, panel.log_y)):
        if is_logarithmic:
            _label_powers(axis)
    axes.set_title(panel.title, fontsize="medium")


def _label_powers(axis: Any) -> None:
    """Labels at powers of ten, and between them where there are few: by default those of a short range overlap."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    decades = np.log10(high / low) if 0.0 < low < high else 0.0
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < FEW_DECADES else (1.0,), numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}" if 1e-3 <= value < 1e6 else f"{value:.0e}"))
    axis.set_minor_formatter(NullFormatter())
