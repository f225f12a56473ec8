"""Convex regularized learning at scale, with a certificate on every answer."""

from __future__ import annotations

from fenchel import datasets, plots
from fenchel.compiled import compiled
from fenchel.driver import Evaluation, minimize
from fenchel.exports import export
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
    SquaredHinge,
)
from fenchel.models import ModelFileError, load, save
from fenchel.path import Path, path
from fenchel.planner import Plan, plan
from fenchel.problem import Problem
from fenchel.regularizers import L1, L2, Box, ElasticNet, Entropy, Linear, SquaredLp
from fenchel.result import History, Iterate, Result
from fenchel.stream import Stream

__version__ = "0.1.0"

__all__ = [
    "L1",
    "L2",
    "Absolute",
    "Box",
    "ElasticNet",
    "Entropy",
    "EpsilonInsensitive",
    "Evaluation",
    "Hinge",
    "History",
    "Huber",
    "Iterate",
    "Linear",
    "Logistic",
    "ModelFileError",
    "MulticlassHinge",
    "Path",
    "Plan",
    "Problem",
    "Quantile",
    "Result",
    "SmoothHinge",
    "SmoothMulticlassHinge",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "SquaredLp",
    "Stream",
    "compiled",
    "datasets",
    "export",
    "load",
    "minimize",
    "path",
    "plan",
    "plots",
    "save",
]
