"""A regularization path: weights, their number and the validation loss against the strength."""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.plots.canvas import COLOURS, QUIET, panels


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
