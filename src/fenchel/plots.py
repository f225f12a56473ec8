"""Figures: the course of a run, solvers side by side, a path, the experiment of inverse time dependency, RNA

Every function draws on the ``axes`` it is given, or on a new figure that belongs to nobody else: no display is needed, and nothing
stays behind in ``pyplot``. Each returns its axes; :func:`save` writes their figure to a file. Colours are those of Okabe and Ito
(*Color Universal Design*, 2008) without the yellow, too faint for lines on white; where curves differ in kind, so do style and marker.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fenchel.files import checked_place, replacing
from fenchel.registry import checked_choice

COLOURS = ("#0072B2", "#D55E00", "#56B4E9", "#E69F00", "#009E73", "#000000", "#CC79A7")  # neighbours differ most, to everybody
STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v")
QUIET = "#595959"
SUFFIXES = (".png", ".pdf", ".svg", ".jpg")
AXES = {"passes": "passes over the data", "seconds": "seconds in the solver", "accesses": "entries of X read"}
SMALLEST, LARGEST = 1e-200, 1e200  # what a logarithmic axis with margins can take
LETTERS_SHOWN = 120  # bases of an RNA up to which they can be read
FEW = 25  # points up to which each gets a marker


def history(run: Any, *, x: str = "passes", axes: Any = None) -> Any:
    """Draw how a run came down: the certified gap, and the objective of the moment above the best bound.

    Args:
        run: a result, its history, or a fitted estimator.
        x: ``"passes"``, ``"seconds"`` or ``"accesses"``.
        axes: matplotlib axes to draw on; a new figure's if None.

    Returns:
        The axes. After a stream, which has no gap, they show the objective and its bound themselves.

    >>> import fenchel as fl
    >>> problem = fl.Problem([[1.0], [2.0]], [1.0, 3.0], fl.Squared(), fl.L2(0.1))
    >>> axes = history(fl.minimize(problem), x="seconds")
    >>> axes.get_xlabel(), axes.get_yscale()
    ('seconds in the solver', 'log')
    """
    checked_choice("x", x, AXES)
    courses = _histories(run)
    [axes] = panels(1, axes)
    certified = any(not np.isnan(course["gap"]).all() for course in courses)
    several = len(courses) > 1
    for k, course in enumerate(courses):
        name = f", problem {k + 1}" if several else ""
        if certified:
            above = course["objective"] - np.max(course["dual_objective"], initial=-np.inf, where=np.isfinite(course["dual_objective"]))
            if not several:
                _curve(axes, course[x], above, 1, f"objective above the best bound{name}")
            _curve(axes, course[x], course["gap"], 2 * k if several else 0, f"certified gap{name}")
        else:
            _curve(axes, course[x], course["objective"], 1, f"objective, an estimate{name}")
            _curve(axes, course[x], course["dual_objective"], 0, f"bound{name}")
    _describe(axes, AXES[x], "distance to the optimum, at most" if certified else "objective", logarithmic=certified)
    if certified:
        _targets(axes, [run])
    axes.legend(frameon=False)
    return axes


def compare(results: Mapping[str, Any] | Sequence[Any], *, x: str | Sequence[str] = ("seconds", "passes"), axes: Any = None) -> Any:
    """Draw the certified gaps of several solvers on one problem, a panel for each ``x``; the axes.

    ``results`` are named by their keys, or by their solvers where they are a list.

    >>> import fenchel as fl
    >>> problem = fl.Problem([[1.0], [2.0]], [1.0, 3.0], fl.Squared(), fl.L2(0.1))
    >>> axes = compare([fl.minimize(problem, solver) for solver in ("sdca", "fista")])
    >>> [text.get_text() for text in axes[-1].get_legend().get_texts()][:2]
    ['sdca', 'fista']
    """
    kinds = [x] if isinstance(x, str) else list(x)
    for kind in kinds:
        checked_choice("x", kind, AXES)
    named = _named(results)
    axes = panels(len(kinds), axes)
    for panel, kind in zip(axes, kinds, strict=True):
        for k, (name, run) in enumerate(named.items()):
            for number, course in enumerate(_histories(run)):
                _curve(panel, course[kind], course["gap"], k, None if number else name)
        _describe(panel, AXES[kind], "certified gap", logarithmic=True)
        _targets(panel, named.values())
    axes[-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5))  # beside the curves, which fill the panel
    return axes


def path(path: Any, axes: Any = None) -> Any:
    """Draw weights, their number and, with validation, the loss on rows held out against strength; two or three axes.

    >>> import fenchel as fl
    >>> [panel.get_ylabel() for panel in path(fl.path([[1.0], [2.0]], [1.0, 2.0], fl.Squared(), n_strengths=3))]
    ['weights', 'weights that are not zero']
    """
    validated = "validation_loss" in path.columns
    axes = panels(2 + validated, axes)
    ever = np.unique(path.coefs.nonzero()[1])
    axes[0].set_prop_cycle(color=COLOURS)
    axes[0].plot(path.strengths, path.coefs[:, ever].toarray(), linewidth=0.8)
    axes[0].set(ylabel="weights", title=f"{len(ever)} of {path.coefs.shape[1]} weights ever used")
    axes[1].plot(path.strengths, path["nnz"], color="black")
    axes[1].set(ylabel="weights that are not zero")
    if validated:
        loss, sd = path["validation_loss"], path["validation_sd"]
        axes[2].plot(path.strengths, loss, color="black")
        axes[2].fill_between(path.strengths, loss - sd, loss + sd, color="black", alpha=0.15, linewidth=0)
        axes[2].set(ylabel="loss on rows held out", title=f"best at {path.strengths[path.best]:.3g}")
    for panel in axes:
        panel.set(xscale="log", xlabel="strength")
        panel.invert_xaxis()
        if validated:
            panel.axvline(path.strengths[path.best], color=QUIET, linestyle=":", linewidth=1)
    return axes


def inverse_time(sizes: Sequence[Any], accuracy: float, axes: Any = None) -> Any:
    """Draw seconds and iterations to an accuracy against the number of training rows; two axes.

    >>> from fenchel.inverse_time import Size
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
        _curve(panel, rows, [np.median(v) for v in values], 0, None)
        _describe(panel, "training rows m", f"{name} to {100 * accuracy:.4g}%", logarithmic=True)
        panel.set_xscale("log")
        panel.set_xticks(rows, labels=[f"{count:,}" for count in rows], rotation=30)
        panel.xaxis.set_minor_locator(NullLocator())
    axes[0].figure.suptitle("Inverse time dependency: medians, and the middle half of the runs")
    return axes


def arcs(sequence: str, structure: Any, other: Any = None, axes: Any = None) -> Any:
    """Draw the pairs of an RNA as arcs over its sequence; with an ``other`` structure, that one's below it; the axes.

    Pairs that only one of the two has are drawn in a colour and style of their own. Structures are dot-bracket strings, lists of
    pairs or arrays of partners.

    >>> axes = arcs("GGGAAACCC", "(((...)))", other="((.....))")
    >>> len(axes.patches)
    5
    """
    from matplotlib.patches import Arc

    from fenchel.structured.rna.structures import partners_of

    [axes] = panels(1, axes)
    drawn = [partners_of(s, len(sequence), "the structure").tolist() for s in (structure, other) if s is not None]
    for partners, shared, sides in zip(drawn, reversed(drawn), ((0, 180), (180, 360)), strict=False):
        for p, q in enumerate(partners):
            if q > p:
                k = 0 if shared[p] == q else 1
                middle, (first, last) = (p + q) / 2, sides
                arc = Arc((middle, 0.0), q - p, q - p, theta1=first, theta2=last, color=COLOURS[k], linestyle=STYLES[k], linewidth=1.2)
                axes.add_patch(arc)
    reach = [max((q - p for p, q in enumerate(partners)), default=0) / 2 + 1 for partners in drawn]
    axes.set(xlim=(-1, len(sequence)), ylim=(-(reach[1] if other is not None else 1), reach[0]), aspect="equal", yticks=[])
    if len(sequence) <= LETTERS_SHOWN:
        axes.set_xticks(range(len(sequence)), labels=list(sequence))
    axes.tick_params(length=0)
    axes.spines[["left", "right", "top", "bottom"]].set_visible(False)
    axes.axhline(0.0, color=QUIET, linewidth=0.6)
    return axes


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
        raise ValueError(f"figure={os.fspath(file)}: its name must end in {', '.join(SUFFIXES)}.")
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
        raise ValueError(f"axes are {len(given)}: this figure needs {count}, side by side or otherwise.")
    return given


def _curve(axes: Any, x: Any, y: Any, k: int, label: str | None) -> None:
    """The k-th kind of curve: its colour, style and marker differ from those of every other kind near it."""
    y = np.asarray(y, dtype=float)
    every = max(1, len(y) // 10) if len(y) > FEW else 1
    style = {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k % len(STYLES)], "marker": MARKERS[k % len(MARKERS)]}
    shown = (y == 0.0) | ((np.abs(y) >= SMALLEST) & (np.abs(y) <= LARGEST))
    axes.plot(x, np.where(shown, y, np.nan), label=label, markersize=4.5, linewidth=1.6, markevery=every, **style)


def _describe(axes: Any, x: str, y: str, logarithmic: bool) -> None:
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


def _targets(axes: Any, runs: Iterable[Any]) -> None:
    """The gaps that were aimed at, each a line."""
    known = {float(getattr(run, "target", np.nan)) for run in runs}
    positive = sorted(target for target in known if np.isfinite(target) and target > 0.0)
    for k, target in enumerate(positive):
        axes.axhline(target, color=QUIET, linestyle=(0, (1, 2)), linewidth=1.2, label=None if k else "tolerance")


def _histories(run: Any) -> list[Any]:
    """The histories of a result, of an estimator, or the history itself."""
    found = getattr(run, "history", getattr(run, "history_", run))
    several = list(found) if isinstance(found, (list, tuple)) else [found]
    if not several or not all(hasattr(course, "COLUMNS") for course in several):
        raise TypeError(f"{type(run).__name__} has no history to draw: give a result, its history, or a fitted estimator.")
    return several


def _named(results: Any) -> dict[str, Any]:
    """Results by name: the names given, or those of their solvers, numbered where one occurs again."""
    if isinstance(results, Mapping):
        named = {str(name): run for name, run in results.items()}
    else:
        named = {}
        for run in results:
            solver = str(getattr(run, "solver", getattr(run, "solver_", "run")))
            again = sum(name == solver or name.startswith(f"{solver} (") for name in named)
            named[f"{solver} ({again + 1})" if again else solver] = run
    if not named:
        raise ValueError("There are no results to compare: give at least one.")
    for name, run in named.items():
        if all(np.isnan(course["gap"]).all() for course in _histories(run)):
            raise ValueError(f"{name} has no certified gap to compare, as after a stream: draw it with fenchel.plots.history.")
    return named
