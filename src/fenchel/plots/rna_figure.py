"""RNA secondary structures as arcs over their sequence."""

from __future__ import annotations

from typing import Any

from fenchel.datasets.rna_notation import partners_of
from fenchel.plots.canvas import COLOURS, GREY, STYLES, panels

LETTERS_SHOWN = 120  # number of bases up to which their letters are legible


def arcs(sequence: str, structure: Any, other: Any = None, axes: Any = None) -> Any:
    """Draw the pairs of an RNA as arcs above its sequence, and those of an ``other`` structure below it; the axes.

    Pairs that are in only one of the two structures have a different colour and style. Structures are dot-bracket strings, lists of
    pairs or arrays of partners.

    >>> axes = arcs("GGGAAACCC", "(((...)))", other="((.....))")
    >>> len(axes.patches)
    5
    """
    from matplotlib.patches import Arc

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
    axes.axhline(0.0, color=GREY, linewidth=0.6)
    return axes
