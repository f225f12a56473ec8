"""Estimators with scikit-learn's interface, each with a certificate of optimality.

``LinearClassifier`` and ``LinearRegressor`` offer all losses and penalties of fenchel. ``Tagger``, ``RnaFolder`` and ``Ranker`` solve
structured problems, and ``StructuredSVM`` and ``ConditionalRandomField`` train any model of :mod:`fenchel.structured`. The others have
scikit-learn's own names, parameters and objectives, so that they can be used by changing an import:

    from sklearn.linear_model import LogisticRegression   →   from fenchel.estimators import LogisticRegression

A new linear estimator only has to define what it minimises, as a :class:`~fenchel.estimators.linear_estimator.Formulation`.
"""

from __future__ import annotations

import lazy_loader

STRUCTURED = ("ConditionalRandomField", "Ranker", "RnaFolder", "StructuredSVM", "Tagger")  # X need not be a matrix of examples

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
