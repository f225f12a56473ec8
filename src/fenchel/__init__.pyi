from . import datasets as datasets, estimators as estimators, plots as plots, structured as structured
from .core.compiled import compiled as compiled
from .core.errors import InputError as InputError
from .driver import Evaluation as Evaluation, checkpoints as checkpoints, minimize as minimize
from .estimators import (
    ConditionalRandomField as ConditionalRandomField,
    ElasticNet as ElasticNet,
    ElasticNetCV as ElasticNetCV,
    Lasso as Lasso,
    LassoCV as LassoCV,
    LinearClassifier as LinearClassifier,
    LinearRegressor as LinearRegressor,
    LinearSVC as LinearSVC,
    LinearSVR as LinearSVR,
    LogisticRegression as LogisticRegression,
    LogisticRegressionCV as LogisticRegressionCV,
    Ranker as Ranker,
    Ridge as Ridge,
    RidgeCV as RidgeCV,
    RnaFolder as RnaFolder,
    SGDClassifier as SGDClassifier,
    SGDRegressor as SGDRegressor,
    StructuredSVM as StructuredSVM,
    Tagger as Tagger,
)
from .losses import (
    Absolute as Absolute,
    EpsilonInsensitive as EpsilonInsensitive,
    Hinge as Hinge,
    Huber as Huber,
    Logistic as Logistic,
    MulticlassHinge as MulticlassHinge,
    Quantile as Quantile,
    SmoothHinge as SmoothHinge,
    SmoothMulticlassHinge as SmoothMulticlassHinge,
    Softmax as Softmax,
    Squared as Squared,
    SquaredEpsilonInsensitive as SquaredEpsilonInsensitive,
    SquaredHinge as SquaredHinge,
)
from .paths import Path as Path, path as path
from .persistence import ModelFileError as ModelFileError, export as export, load as load, save as save
from .problems.problem import Problem as Problem
from .problems.result import History as History, Iterate as Iterate, Result as Result
from .problems.stream import Stream as Stream
from .regularizers import L1 as L1, L1L2 as L1L2, L2 as L2, Box as Box, Entropy as Entropy, Linear as Linear, SquaredLp as SquaredLp
from .theory import Plan as Plan, plan as plan
from .verification import Verification as Verification, verify as verify

__version__: str
