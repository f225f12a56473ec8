"""A regularization path: weights, number of non-zero weights and validation loss against the strength."""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.plots.canvas import COLOURS, GREY, panels


def path(path: Any, axes: Any = None) -> Any:
    """Draw the weights, the number of non-zero ones and, after cross-validation, the loss on held-out rows; two or three axes.

    >>> import fenchel as fl
    >>> [panel.get_ylabel() for panel in path(fl.path([[1.0], [2.0]], [1.0, 2.0], fl.Squared(), n_strengths=3))]
    ['weights', 'non-zero weights']
    """
    validated = "validation_loss" in path.columns
    axes = panels(2 + validated, axes)
    ever = np.unique(path.coefs.nonzero()[1])
    axes[0].set_prop_cycle(color=COLOURS)
    axes[0].plot(path.strengths, path.coefs[:, ever].toarray(), linewidth=0.8)
    axes[0].set(ylabel="weights", title=f"{len(ever)} of {path.coefs.shape[1]} weights are non-zero somewhere")
    axes[1].plot(path.strengths, path["nnz"], color="black")
    axes[1].set(ylabel="non-zero weights")
    if validated:
        loss, sd = path["validation_loss"], path["validation_sd"]
        axes[2].plot(path.strengths, loss, color="black")
        axes[2].fill_between(path.strengths, loss - sd, loss + sd, color="black", alpha=0.15, linewidth=0)
        axes[2].set(ylabel="loss on held-out rows", title=f"best at {path.strengths[path.best]:.3g}")
    for panel in axes:
        panel.set(xscale="log", xlabel="strength")
        panel.invert_xaxis()
        if validated:
            panel.axvline(path.strengths[path.best], color=GREY, linestyle=":", linewidth=1)
    return axes
