"""Estimators with scikit-learn's interface, each with a certificate of optimality.

``LinearClassifier`` and ``LinearRegressor`` offer all losses and penalties of fenchel. ``Tagger``, ``RnaFolder`` and ``Ranker`` solve
structured problems, and ``StructuredSVM`` and ``ConditionalRandomField`` train any model of :mod:`fenchel.structured`. The others have
scikit-learn's own names, parameters and objectives, so that they can be used by changing an import:

    from sklearn.linear_model import LogisticRegression   →   from fenchel.estimators import LogisticRegression

A new linear estimator only has to define what it minimises, as a :class:`~fenchel.estimators.linear_estimator.Formulation`.
"""

from __future__ import annotations

from typing import TypeAlias

from fenchel.estimators.lasso import ElasticNet, Lasso
from fenchel.estimators.lasso_cv import ElasticNetCV, LassoCV
from fenchel.estimators.linear import LinearClassifier, LinearRegressor
from fenchel.estimators.logistic_regression import LogisticRegression
from fenchel.estimators.logistic_regression_cv import LogisticRegressionCV
from fenchel.estimators.ranker import Ranker
from fenchel.estimators.ridge import Ridge
from fenchel.estimators.ridge_cv import RidgeCV
from fenchel.estimators.rna_folder import RnaFolder
from fenchel.estimators.sgd import SGDClassifier, SGDRegressor
from fenchel.estimators.structured_estimators import ConditionalRandomField, StructuredSVM
from fenchel.estimators.svm import LinearSVC, LinearSVR
from fenchel.estimators.tagger import Tagger

#: Any of the estimators, as :func:`fenchel.load` returns it.
Estimator: TypeAlias = (
    ConditionalRandomField
    | ElasticNet
    | ElasticNetCV
    | Lasso
    | LassoCV
    | LinearClassifier
    | LinearRegressor
    | LinearSVC
    | LinearSVR
    | LogisticRegression
    | LogisticRegressionCV
    | Ranker
    | Ridge
    | RidgeCV
    | RnaFolder
    | SGDClassifier
    | SGDRegressor
    | StructuredSVM
    | Tagger
)
STRUCTURED = ("ConditionalRandomField", "Ranker", "RnaFolder", "StructuredSVM", "Tagger")  # X need not be a matrix of examples

__all__ = [
    "ConditionalRandomField",
    "ElasticNet",
    "ElasticNetCV",
    "Lasso",
    "LassoCV",
    "LinearClassifier",
    "LinearRegressor",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "Ranker",
    "Ridge",
    "RidgeCV",
    "RnaFolder",
    "SGDClassifier",
    "SGDRegressor",
    "StructuredSVM",
    "Tagger",
]


def __dir__() -> list[str]:
    return sorted(__all__)
