"""Scores of predictions for classification and regression, by scikit-learn's definitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.cli.screen import label
from fenchel.core.errors import InputError


def is_classifier(model: Any) -> bool:
    """Whether the model predicts classes."""
    return hasattr(model, "classes_")


def labels_as_classes(model: Any, y: np.ndarray) -> np.ndarray:
    """Labels in the type of the model's classes, since one table may hold 1 where another holds "1"."""
    classes = model.classes_
    if classes.dtype.kind in "UO" and y.dtype.kind not in "UO":
        return np.array([str(label(value)) for value in y])
    if classes.dtype.kind not in "UO" and y.dtype.kind in "UO":
        raise InputError(
            f"The labels are text, such as {str(y[0])!r}, and the classes numbers, such as {label(classes[0])}: give numeric labels."
        )
    return y


def quick_score(model: Any, X: Any, y: np.ndarray) -> tuple[str, float]:
    """The name and value of one score: accuracy, or the root mean squared error."""
    if is_classifier(model):
        return "accuracy", float(np.mean(model.predict(X) == labels_as_classes(model, y)))
    return "rmse", float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def scores(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """All scores by name."""
    if not is_classifier(model) and y.dtype.kind not in "fiub":
        raise InputError(f"The labels are text, such as {str(y[0])!r}, and the model predicts numbers: give numeric labels.")
    return (
        _classification_scores(model, X, labels_as_classes(model, y)) if is_classifier(model) else _regression_scores(model.predict(X), y)
    )


def _regression_scores(predicted: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    from sklearn.metrics import mean_absolute_error, r2_score

    rmse = float(np.sqrt(np.mean((predicted - y) ** 2)))
    r2 = float(r2_score(y, predicted)) if len(y) > 1 else float("nan")
    return {"rows": len(y), "rmse": rmse, "mae": float(mean_absolute_error(y, predicted)), "r2": r2}


def _classification_scores(model: Any, X: Any, y: np.ndarray) -> dict[str, Any]:
    from sklearn.metrics import precision_recall_fscore_support

    predicted, known = model.predict(X), model.classes_
    found: dict[str, Any] = {"rows": len(y), "accuracy": float(np.mean(predicted == y)), "error": float(np.mean(predicted != y))}
    unknown = sorted(set(np.unique(y).tolist()) - set(known.tolist()), key=str)
    if not unknown:
        found |= _probability_scores(model, X, y)
    columns = precision_recall_fscore_support(y, predicted, labels=known, zero_division=0.0)
    found["classes"] = [
        {"class": label(name), "precision": precision, "recall": recall, "f1": f1, "rows": int(rows)}
        for name, precision, recall, f1, rows in zip(known, *(column.tolist() for column in columns), strict=True)
    ]
    return found | ({"unknown_classes": [label(value) for value in unknown]} if unknown else {})


def _probability_scores(model: Any, X: Any, y: np.ndarray) -> dict[str, Any]:
    """The log loss if the model gives probabilities, and the area under the ROC curve for two classes."""
    from sklearn.metrics import log_loss, roc_auc_score

    found = {}
    if hasattr(model, "predict_proba"):
        found["log_loss"] = float(log_loss(y, model.predict_proba(X), labels=model.classes_))
    if len(model.classes_) == 2 and len(np.unique(y)) == 2:
        found["auc"] = float(roc_auc_score(y == model.classes_[1], model.decision_function(X)))
    return found


def in_words(found: dict[str, Any]) -> str:
    """The main scores on one line.

    >>> in_words({"rows": 1200, "accuracy": 0.912345, "error": 0.087655, "auc": 0.97})
    'accuracy 91.23 %, AUC 0.9700, on 1,200 rows'
    """
    parts = []
    if "accuracy" in found:
        parts.append(f"accuracy {100.0 * found['accuracy']:.2f} %")
    parts += [f"{name} {found[key]:.4f}" for key, name in (("auc", "AUC"), ("log_loss", "log loss")) if key in found]
    parts += [f"{name} {found[key]:.6g}" for key, name in (("rmse", "RMSE"), ("mae", "MAE"), ("r2", "R²")) if key in found]
    return f"{', '.join(parts)}, on {found['rows']:,} rows"


def mean_loss(model: Any, X: Any, y: np.ndarray) -> float | None:
    """The mean of the loss that the model was trained with; None for other models and for more than two classes one-vs-rest."""
    from fenchel.estimators import LinearClassifier, LinearRegressor
    from fenchel.estimators.linear import binary_loss, multiclass_loss
    from fenchel.estimators.penalties import loss_named
    from fenchel.problems.sums import sum_losses

    row_weights = np.full(len(y), 1.0 / len(y))
    if isinstance(model, LinearRegressor):
        return float(sum_losses(loss_named(model.loss, ("real",)), np.asarray(model.predict(X), dtype=np.float64), y, row_weights))
    if not isinstance(model, LinearClassifier) or not np.isin(y := labels_as_classes(model, y), model.classes_).all():
        return None
    joint = model.multiclass != "one-vs-rest" and multiclass_loss(model.loss) is not None
    if len(model.classes_) > 2 and not joint:
        return None
    codes = np.searchsorted(model.classes_, y)
    two = len(model.classes_) == 2
    labels, loss = (np.where(codes == 1, 1.0, -1.0), binary_loss(model.loss)) if two else (codes, multiclass_loss(model.loss))
    return float(sum_losses(loss, np.ascontiguousarray(model.decision_function(X), dtype=np.float64), labels, row_weights))
