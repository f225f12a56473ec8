"""Code shared by figures: axes, colours, distinguishable curves, and files.

Colours are those of Okabe and Ito (*Color Universal Design*, 2008) without yellow, which is too faint for lines on white; different
curves also differ in style and marker.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from fenchel.core.atomic_files import checked_place, replacing
from fenchel.core.errors import Argument, InputError

# Ordered so that adjacent colours differ most, also for colour-blind readers.
COLOURS = ("#0072B2", "#D55E00", "#56B4E9", "#E69F00", "#009E73", "#000000", "#CC79A7")
STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v")
GREY = "#595959"
SUFFIXES = (".png", ".pdf", ".svg", ".jpg")
SMALLEST, LARGEST = 1e-200, 1e200  # the range that a logarithmic axis with margins supports
FEW = 25  # number of points up to which each has a marker


def save(drawn: Any, file: str | os.PathLike[str]) -> None:
    """Write a figure, or the figure of the axes, to a .png, .pdf, .svg or .jpg file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(panels(1, None), folder + "/empty.svg")
    """
    check_file(file)
    first = drawn if hasattr(drawn, "savefig") or hasattr(drawn, "figure") else np.asarray(drawn, dtype=object).ravel()[0]
    figure = first if hasattr(first, "savefig") else first.figure
    dated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    # Without dates and random names in it, the same figure is the same file.
    with replacing(file) as path, _matplotlib().rc_context({"svg.hashsalt": "fenchel"}):
        figure.savefig(path, format=_suffix(file)[1:], dpi=150, metadata=dated.get(_suffix(file)))


def check_file(file: str | os.PathLike[str]) -> None:
    """Raise an error if the figure could not be written; commands call this before a long computation."""
    _matplotlib()
    if _suffix(file) not in SUFFIXES:
        raise InputError(Argument("figure", os.fspath(file)), f": the ending must be one of {', '.join(SUFFIXES)}.")
    checked_place(file)


def _suffix(file: str | os.PathLike[str]) -> str:
    return os.path.splitext(os.fspath(file))[1].lower()


def _matplotlib() -> Any:
    try:
        import matplotlib.figure
    except ImportError:
        raise ModuleNotFoundError('A figure needs matplotlib: pip install "fenchel[plot]".') from None
    return matplotlib


def new_figure(width: float, height: float) -> Any:
    """An empty figure of this size, in inches."""
    return _matplotlib().figure.Figure(figsize=(width, height), layout="constrained")


def panels(count: int, axes: Any = None) -> Any:
    """The given axes, or the axes of a new figure with ``count`` panels side by side."""
    if axes is None:
        return new_figure(4.5 * count if count > 1 else 6.0, 3.6).subplots(1, count, squeeze=False)[0]
    given = np.asarray(axes, dtype=object).ravel()
    if len(given) != count:
        raise InputError(f"{len(given)} axes were given: this figure needs {count}.")
    return given


def draw_curve(axes: Any, x: Any, y: Any, k: int, label: str | None) -> None:
    """Draw a curve with the k-th combination of colour, style and marker."""
    y = np.asarray(y, dtype=float)
    every = max(1, len(y) // 10) if len(y) > FEW else 1
    style = {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k % len(STYLES)], "marker": MARKERS[k % len(MARKERS)]}
    shown = (y == 0.0) | ((np.abs(y) >= SMALLEST) & (np.abs(y) <= LARGEST))
    axes.plot(x, np.where(shown, y, np.nan), label=label, markersize=4.5, linewidth=1.6, markevery=every, **style)


def label_axes(axes: Any, x: str, y: str, logarithmic: bool) -> None:
    """Set labels and scales; zeros, which a logarithmic axis cannot show, get an arrow at the bottom."""
    values = np.concatenate([[], *(np.asarray(line.get_ydata()) for line in axes.lines)])
    axes.set(xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if not logarithmic or not (values > 0.0).any():
        return
    for line in list(axes.lines):
        zeros = np.asarray(line.get_ydata()) <= 0.0
        if zeros.any():
            where = np.asarray(line.get_xdata())[zeros]
            bottom = axes.get_xaxis_transform()
            axes.plot(where, np.zeros(len(where)), "v", color=line.get_color(), transform=bottom, clip_on=False, markersize=8)
            axes.annotate("0", (where[-1], 0.03), xycoords=bottom, ha="center", va="bottom", color=line.get_color())
    axes.set_yscale("log", nonpositive="mask")
