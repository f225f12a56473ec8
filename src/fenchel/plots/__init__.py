"""Figures: the course of a run, solvers side by side, a path, the experiment of inverse time dependency, RNA.

Every function draws on the ``axes`` it is given, or on a new figure that belongs to nobody else: no display is needed, and nothing
stays behind in ``pyplot``. Each returns its axes; :func:`save` writes their figure to a file. Figures read the attributes of what they
draw and nothing else, so results and paths can offer to draw themselves. A new figure is a file here and a line below.
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
