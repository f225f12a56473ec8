"""The history of a run, and a comparison of several runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fenchel.core.errors import InputError, InputTypeError
from fenchel.core.validation import checked_choice
from fenchel.plots.canvas import GREY, draw_curve, label_axes, panels

AXES = {"passes": "passes over the data", "seconds": "seconds in the solver", "accesses": "entries of X read"}


def history(run: Any, *, x: str = "passes", axes: Any = None) -> Any:
    """Draw the history of a run: the certified gap, and the difference between the objective and the best lower bound.

    Args:
        run: a result, its history, or a fitted estimator.
        x: ``"passes"``, ``"seconds"`` or ``"accesses"``.
        axes: matplotlib axes to draw on; by default those of a new figure.

    Returns:
        The axes. For a stream, which has no gap, they show the objective and its bound.

    >>> import fenchel as fl
    >>> problem = fl.Problem([[1.0], [2.0]], [1.0, 3.0], fl.Squared(), fl.L2(0.1))
    >>> axes = history(fl.minimize(problem), x="seconds")
    >>> axes.get_xlabel(), axes.get_yscale()
    ('seconds in the solver', 'log')
    """
    checked_choice("x", x, AXES)
    histories = _histories(run)
    [axes] = panels(1, axes)
    certified = any(not np.isnan(columns["gap"]).all() for columns in histories)
    several = len(histories) > 1
    for k, columns in enumerate(histories):
        name = f", problem {k + 1}" if several else ""
        if certified:
            best = np.max(columns["dual_objective"], initial=-np.inf, where=np.isfinite(columns["dual_objective"]))
            with np.errstate(invalid="ignore"):  # differences of infinities are nan and are not drawn
                above = columns["objective"] - best
            if not several:
                draw_curve(axes, columns[x], above, 1, f"objective minus the best bound{name}")
            draw_curve(axes, columns[x], columns["gap"], 2 * k if several else 0, f"certified gap{name}")
        else:
            draw_curve(axes, columns[x], columns["objective"], 1, f"objective, an estimate{name}")
            draw_curve(axes, columns[x], columns["dual_objective"], 0, f"bound{name}")
    label_axes(axes, AXES[x], "bound on the distance to the optimum" if certified else "objective", logarithmic=certified)
    if certified:
        draw_targets(axes, [run])
    axes.legend(frameon=False)
    return axes


def compare(results: Mapping[str, Any] | Sequence[Any], *, x: str | Sequence[str] = ("seconds", "passes"), axes: Any = None) -> Any:
    """Draw the certified gaps of several solvers on one problem, in one panel per ``x``; the axes.

    The names of ``results`` are the keys of a mapping, or the solvers of a list.

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
            for number, columns in enumerate(_histories(run)):
                draw_curve(panel, columns[kind], columns["gap"], k, None if number else name)
        label_axes(panel, AXES[kind], "certified gap", logarithmic=True)
        draw_targets(panel, named.values())
    axes[-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5))  # outside, because the curves fill the panel
    return axes


def draw_targets(axes: Any, runs: Iterable[Any]) -> None:
    """Draw a horizontal line at each tolerance."""
    known = {float(getattr(run, "target", np.nan)) for run in runs}
    positive = sorted(target for target in known if np.isfinite(target) and target > 0.0)
    for k, target in enumerate(positive):
        axes.axhline(target, color=GREY, linestyle=(0, (1, 2)), linewidth=1.2, label=None if k else "tolerance")


def _histories(run: Any) -> list[Any]:
    """The histories of a result or an estimator, or the given history."""
    found = getattr(run, "history", getattr(run, "history_", run))
    several = list(found) if isinstance(found, (list, tuple)) else [found]
    if not several or not all(hasattr(columns, "COLUMNS") for columns in several):
        raise InputTypeError(f"{type(run).__name__} has no history to draw: give a result, its history, or a fitted estimator.")
    return several


def _named(results: Any) -> dict[str, Any]:
    """Results by the given names, or by their solvers, numbered if a solver occurs more than once."""
    if isinstance(results, Mapping):
        named = {str(name): run for name, run in results.items()}
    else:
        named = {}
        for run in results:
            solver = str(getattr(run, "solver", getattr(run, "solver_", "run")))
            again = sum(name == solver or name.startswith(f"{solver} (") for name in named)
            named[f"{solver} ({again + 1})" if again else solver] = run
    if not named:
        raise InputError("There are no results to compare: give at least one.")
    for name, run in named.items():
        if all(np.isnan(columns["gap"]).all() for columns in _histories(run)):
            raise InputError(f"{name} has no certified gap to compare: draw it with fenchel.plots.history.")
    return named
