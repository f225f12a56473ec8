"""Convex regularized learning at scale, with a certificate on every answer."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fenchel import datasets, plots, structured
from fenchel.core.compiled import compiled
from fenchel.core.errors import InputError
from fenchel.core.version import __version__ as __version__
from fenchel.driver import Evaluation, minimize
from fenchel.losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    MulticlassHinge,
    Quantile,
    SmoothHinge,
    SmoothMulticlassHinge,
    Softmax,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from fenchel.paths import Path, path
from fenchel.persistence import ModelFileError, export, load, save
from fenchel.problems.problem import Problem
from fenchel.problems.result import History, Iterate, Result
from fenchel.problems.stream import Stream
from fenchel.regularizers import L1, L1L2, L2, Box, Entropy, Linear, SquaredLp
from fenchel.theory import Plan, plan
from fenchel.verification import Verification, verify

if TYPE_CHECKING:
    from fenchel import estimators
    from fenchel.estimators import (
        ConditionalRandomField,
        ElasticNet,
        ElasticNetCV,
        Lasso,
        LassoCV,
        LinearClassifier,
        LinearRegressor,
        LinearSVC,
        LinearSVR,
        LogisticRegression,
        LogisticRegressionCV,
        Ranker,
        Ridge,
        RidgeCV,
        RnaFolder,
        SGDClassifier,
        SGDRegressor,
        StructuredSVM,
        Tagger,
    )

__all__ = [
    "L1",
    "L1L2",
    "L2",
    "Absolute",
    "Box",
    "ConditionalRandomField",
    "ElasticNet",
    "ElasticNetCV",
    "Entropy",
    "EpsilonInsensitive",
    "Evaluation",
    "Hinge",
    "History",
    "Huber",
    "InputError",
    "Iterate",
    "Lasso",
    "LassoCV",
    "Linear",
    "LinearClassifier",
    "LinearRegressor",
    "LinearSVC",
    "LinearSVR",
    "Logistic",
    "LogisticRegression",
    "LogisticRegressionCV",
    "ModelFileError",
    "MulticlassHinge",
    "Path",
    "Plan",
    "Problem",
    "Quantile",
    "Ranker",
    "Result",
    "Ridge",
    "RidgeCV",
    "RnaFolder",
    "SGDClassifier",
    "SGDRegressor",
    "SmoothHinge",
    "SmoothMulticlassHinge",
    "Softmax",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "SquaredLp",
    "Stream",
    "StructuredSVM",
    "Tagger",
    "Verification",
    "compiled",
    "datasets",
    "estimators",
    "export",
    "load",
    "minimize",
    "path",
    "plan",
    "plots",
    "save",
    "structured",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import estimators on first access, because scikit-learn takes longer to import than everything else."""
    if name not in __all__:
        raise AttributeError(f"module 'fenchel' has no attribute {name!r}")
    estimators = importlib.import_module("fenchel.estimators")
    return estimators if name == "estimators" else getattr(estimators, name)


def __dir__() -> list[str]:
    return sorted(__all__)
