"""A figure of how good predictions are: the ROC curve of two classes, the confusions of several, or numbers against numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.cli.model_scores import comparable, is_classifier
from fenchel.cli.screen import label
from fenchel.core.errors import InputError
from fenchel.plots.canvas import COLOURS, QUIET, panels

NAMED = 20  # classes that have room for their names


def judgement(model: Any, X: Any, y: np.ndarray) -> Any:
    """The axes of the figure that fits the model."""
    [axes] = panels(1)
    if not is_classifier(model):
        return _numbers(axes, y, model.predict(X))
    y = comparable(model, y)
    return _curve(axes, model, X, y) if len(model.classes_) == 2 else _confusions(axes, model, X, y)


def _numbers(axes: Any, y: np.ndarray, predicted: np.ndarray) -> Any:
    ends = [min(y.min(), predicted.min()), max(y.max(), predicted.max())]
    axes.plot(ends, ends, color=QUIET, linestyle=":")
    axes.plot(y, predicted, ".", color=COLOURS[0], markersize=3, alpha=0.5)
    axes.set(xlabel="label", ylabel="prediction")
    return axes


def _curve(axes: Any, model: Any, X: Any, y: np.ndarray) -> Any:
    from sklearn.metrics import roc_curve

    positive = y == model.classes_[1]
    if positive.all() or not positive.any():
        raise InputError("All rows are of one class, which gives no ROC curve: leave --plot out, or give rows of both.")
    wrong, right, _ = roc_curve(positive, model.decision_function(X))
    axes.plot([0, 1], [0, 1], color=QUIET, linestyle=":")
    axes.plot(wrong, right, color=COLOURS[0])
    axes.set(xlabel=f"share of the others taken for {label(model.classes_[1])}", ylabel=f"share of {label(model.classes_[1])} found")
    return axes


def _confusions(axes: Any, model: Any, X: Any, y: np.ndarray) -> Any:
    from sklearn.metrics import confusion_matrix

    shares = confusion_matrix(y, model.predict(X), labels=model.classes_, normalize="true")
    image = axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    axes.figure.colorbar(image, ax=axes, label="share of the rows of a class")
    axes.set(xlabel="prediction", ylabel="label")
    if len(model.classes_) <= NAMED:
        names = [str(label(value)) for value in model.classes_]
        axes.set_xticks(range(len(names)), labels=names, rotation=45)
        axes.set_yticks(range(len(names)), labels=names)
    return axes
