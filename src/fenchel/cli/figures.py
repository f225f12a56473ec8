"""The figure of ``fenchel evaluate``: a ROC curve for two classes, a confusion matrix for more, or predictions against labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.cli.model_scores import is_classifier, labels_as_classes
from fenchel.cli.screen import label
from fenchel.core.errors import InputError
from fenchel.plots.canvas import COLOURS, GREY, panels

NAMED = 20  # number of classes up to which there is room for their names


def evaluation_figure(model: Any, X: Any, y: np.ndarray) -> Any:
    """Draw the figure for this kind of model; the axes."""
    [axes] = panels(1)
    if not is_classifier(model):
        return _draw_predictions(axes, y, model.predict(X))
    y = labels_as_classes(model, y)
    draw = _draw_roc_curve if len(model.classes_) == 2 else _draw_confusion_matrix
    return draw(axes, model, X, y)


def _draw_predictions(axes: Any, y: np.ndarray, predicted: np.ndarray) -> Any:
    ends = [min(y.min(), predicted.min()), max(y.max(), predicted.max())]
    axes.plot(ends, ends, color=GREY, linestyle=":")
    axes.plot(y, predicted, ".", color=COLOURS[0], markersize=3, alpha=0.5)
    axes.set(xlabel="label", ylabel="prediction")
    return axes


def _draw_roc_curve(axes: Any, model: Any, X: Any, y: np.ndarray) -> Any:
    from sklearn.metrics import roc_curve

    positive = y == model.classes_[1]
    if positive.all() or not positive.any():
        raise InputError("All rows belong to one class, so there is no ROC curve: leave --plot out, or give rows of both classes.")
    wrong, right, _ = roc_curve(positive, model.decision_function(X))
    axes.plot([0, 1], [0, 1], color=GREY, linestyle=":")
    axes.plot(wrong, right, color=COLOURS[0])
    axes.set(xlabel=f"false positive rate of {label(model.classes_[1])}", ylabel=f"true positive rate of {label(model.classes_[1])}")
    return axes


def _draw_confusion_matrix(axes: Any, model: Any, X: Any, y: np.ndarray) -> Any:
    from sklearn.metrics import confusion_matrix

    shares = confusion_matrix(y, model.predict(X), labels=model.classes_, normalize="true")
    image = axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    axes.figure.colorbar(image, ax=axes, label="share of the rows of the class")
    axes.set(xlabel="prediction", ylabel="label")
    if len(model.classes_) <= NAMED:
        names = [str(label(value)) for value in model.classes_]
        axes.set_xticks(range(len(names)), labels=names, rotation=45)
        axes.set_yticks(range(len(names)), labels=names)
    return axes
