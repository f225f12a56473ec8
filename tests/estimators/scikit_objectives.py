"""scikit-learn's documented objectives, computed from data, coef_ and intercept_."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp


def scores(model, X):
    """X·coef + intercept, always with one column per problem."""
    return np.asarray(X @ np.atleast_2d(model.coef_).T) + model.intercept_


def elastic(w, ratio):
    return ratio * np.abs(w).sum() + 0.5 * (1.0 - ratio) * (w**2).sum()


def one_vs_rest(model, y):
    """Labels −1 and 1, one column per problem."""
    classes = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    return np.where(np.asarray(y)[:, None] == classes, 1.0, -1.0)


def logistic(model, X, y, s):
    z = scores(model, X)
    if z.shape[1] == 1:
        loss = np.logaddexp(0.0, -one_vs_rest(model, y) * z)[:, 0]
    else:
        loss = logsumexp(z, axis=1) - z[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return model.C * s @ loss + elastic(model.coef_, model.l1_ratio)


def svc(model, X, y, s):
    z = scores(model, X)
    full = np.column_stack([model.coef_, np.broadcast_to(model.intercept_ / model.intercept_scaling, len(model.coef_))])
    if model.multi_class == "crammer_singer" and z.shape[1] > 1:
        right = np.searchsorted(model.classes_, y)
        margin = z[np.arange(len(y)), right][:, None] - z - (np.arange(z.shape[1]) != right[:, None])
        return model.C * s @ -margin.min(axis=1) + elastic(full, 0.0)
    if model.multi_class == "crammer_singer":  # coef_ is w₁ − w₀, and ½‖w₁‖² + ½‖w₀‖² is minimal for w₁ = −w₀
        return model.C * s @ np.maximum(0.0, 1.0 - one_vs_rest(model, y) * z)[:, 0] + 2.0 * elastic(full / 2.0, 0.0)
    loss = np.maximum(0.0, 1.0 - one_vs_rest(model, y) * z) ** (2 if model.loss == "squared_hinge" else 1)
    return model.C * (s @ loss).sum() + elastic(full, float(model.penalty == "l1"))


def svr(model, X, y, s):
    full = np.append(model.coef_, np.ravel(model.intercept_) / model.intercept_scaling)
    loss = np.maximum(0.0, np.abs(scores(model, X)[:, 0] - y) - model.epsilon) ** (2 if model.loss.startswith("squared") else 1)
    return model.C * s @ loss + elastic(full, 0.0)


def ridge(model, X, y, s):
    return (s @ (scores(model, X) - columns(y)) ** 2).sum() + model.alpha * (model.coef_**2).sum()


def elastic_net(model, X, y, s):
    ratio = getattr(model, "l1_ratio", 1.0)
    return 0.5 * (s @ (scores(model, X) - columns(y)) ** 2).sum() / s.sum() + model.alpha * elastic(model.coef_, ratio)


def columns(y):
    return y[:, None] if y.ndim == 1 else y


SGD_LOSSES = {
    "hinge": lambda z, y: np.maximum(0.0, 1.0 - y * z),
    "squared_hinge": lambda z, y: np.maximum(0.0, 1.0 - y * z) ** 2,
    "log_loss": lambda z, y: np.logaddexp(0.0, -y * z),
    "modified_huber": lambda z, y: np.where(y * z >= -1.0, np.maximum(0.0, 1.0 - y * z) ** 2, -4.0 * y * z),
    "squared_error": lambda z, y: 0.5 * (z - y) ** 2,
    "huber": lambda z, y: np.where(np.abs(z - y) <= 0.1, 0.5 * (z - y) ** 2, 0.1 * np.abs(z - y) - 0.005),
    "epsilon_insensitive": lambda z, y: np.maximum(0.0, np.abs(z - y) - 0.1),
}


def sgd(model, X, y, s):
    labels = one_vs_rest(model, y) if hasattr(model, "classes_") else columns(y)
    ratio = {"l2": 0.0, "l1": 1.0}.get(model.penalty, model.l1_ratio)
    return (s @ SGD_LOSSES[model.loss](scores(model, X), labels)).sum() / s.sum() + model.alpha * elastic(model.coef_, ratio)
