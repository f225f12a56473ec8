"""What figures share: axes, colours, curves that can be told apart, and files.

Colours are those of Okabe and Ito (*Color Universal Design*, 2008) without the yellow, too faint for lines on white; where curves differ in
kind, so do style and marker.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from fenchel.core.atomic_files import checked_place, replacing
from fenchel.core.errors import Argument, InputError

COLOURS = ("#0072B2", "#D55E00", "#56B4E9", "#E69F00", "#009E73", "#000000", "#CC79A7")  # neighbours differ most, to everybody
STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v")
QUIET = "#595959"
SUFFIXES = (".png", ".pdf", ".svg", ".jpg")
SMALLEST, LARGEST = 1e-200, 1e200  # what a logarithmic axis with margins can take
FEW = 25  # points up to which each gets a marker


def save(drawn: Any, file: str | os.PathLike[str]) -> None:
    """Write a figure, or the figure that axes are on, as .png, .pdf, .svg or .jpg, as the name says.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(panels(1, None), folder + "/empty.svg")
    """
    check_file(file)
    first = drawn if hasattr(drawn, "savefig") or hasattr(drawn, "figure") else np.asarray(drawn, dtype=object).ravel()[0]
    figure = first if hasattr(first, "savefig") else first.figure
    with replacing(file) as path:
        figure.savefig(path, format=_suffix(file)[1:], dpi=150)


def check_file(file: str | os.PathLike[str]) -> None:
    """Refuse a figure that could not be written: before hours of work, not after."""
    _matplotlib()
    if _suffix(file) not in SUFFIXES:
        raise InputError(Argument("figure", os.fspath(file)), f": its name must end in {', '.join(SUFFIXES)}.")
    checked_place(file)


def _suffix(file: str | os.PathLike[str]) -> str:
    return os.path.splitext(os.fspath(file))[1].lower()


def _matplotlib() -> Any:
    try:
        import matplotlib.figure
    except ImportError:
        raise ModuleNotFoundError('A figure needs matplotlib: pip install "fenchel[plot]".') from None
    return matplotlib


def panels(count: int, axes: Any = None) -> Any:
    """So many axes side by side: those given, or a new figure's."""
    if axes is None:
        figure = _matplotlib().figure.Figure(figsize=(4.5 * count if count > 1 else 6.0, 3.6), layout="constrained")
        return figure.subplots(1, count, squeeze=False)[0]
    given = np.asarray(axes, dtype=object).ravel()
    if len(given) != count:
        raise InputError(f"axes are {len(given)}: this figure needs {count}, side by side or otherwise.")
    return given


def draw_curve(axes: Any, x: Any, y: Any, k: int, label: str | None) -> None:
    """The k-th kind of curve: its colour, style and marker differ from those of every other kind near it."""
    y = np.asarray(y, dtype=float)
    every = max(1, len(y) // 10) if len(y) > FEW else 1
    style = {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k % len(STYLES)], "marker": MARKERS[k % len(MARKERS)]}
    shown = (y == 0.0) | ((np.abs(y) >= SMALLEST) & (np.abs(y) <= LARGEST))
    axes.plot(x, np.where(shown, y, np.nan), label=label, markersize=4.5, linewidth=1.6, markevery=every, **style)


def label_axes(axes: Any, x: str, y: str, logarithmic: bool) -> None:
    """Labels and scales; what is zero, and so below a logarithmic axis, gets an arrow at its foot."""
    values = np.concatenate([[], *(np.asarray(line.get_ydata()) for line in axes.lines)])
    axes.set(xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if not logarithmic or not (values > 0.0).any():
        return
    for line in list(axes.lines):
        nothing = np.asarray(line.get_ydata()) <= 0.0
        if nothing.any():
            where = np.asarray(line.get_xdata())[nothing]
            foot = axes.get_xaxis_transform()
            axes.plot(where, np.zeros(len(where)), "v", color=line.get_color(), transform=foot, clip_on=False, markersize=8)
            axes.annotate("0", (where[-1], 0.03), xycoords=foot, ha="center", va="bottom", color=line.get_color())
    axes.set_yscale("log", nonpositive="mask")
