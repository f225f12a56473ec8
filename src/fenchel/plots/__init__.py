"""Figures: the history of a run, comparisons of solvers, regularization paths, inverse time dependency, RNA structures.

Every function draws on the given ``axes``, or on a new figure that is not registered with ``pyplot``, so that no display is needed. Each
returns its axes; :func:`save` writes their figure to a file. Functions use only the attributes of the objects they draw, so that results
and paths can have a ``plot`` method. To add a figure, add a file here and a line below.
"""

from __future__ import annotations

from fenchel.plots.canvas import check_file, panels, save
from fenchel.plots.inverse_time_figure import inverse_time
from fenchel.plots.path_figure import path
from fenchel.plots.rna_figure import arcs
from fenchel.plots.run_figures import compare, history

__all__ = ["arcs", "check_file", "compare", "history", "inverse_time", "panels", "path", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)
