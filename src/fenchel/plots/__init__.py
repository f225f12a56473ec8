"""Figures: the history of a run, comparisons of solvers, regularization paths, inverse time dependency, RNA structures.

Every function draws on the given ``axes``, or on a new figure that is not registered with ``pyplot``, so that no display is needed. Each
returns its axes; :func:`save` writes their figure to a file. Functions use only the attributes of the objects they draw, so that results
and paths can have a ``plot`` method. To add a figure, add a file here and a line below.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
