from .lasso import ElasticNet as ElasticNet, Lasso as Lasso
from .lasso_cv import ElasticNetCV as ElasticNetCV, LassoCV as LassoCV
from .linear import LinearClassifier as LinearClassifier, LinearRegressor as LinearRegressor
from .logistic_regression import LogisticRegression as LogisticRegression
from .logistic_regression_cv import LogisticRegressionCV as LogisticRegressionCV
from .ranker import Ranker as Ranker
from .ridge import Ridge as Ridge
from .ridge_cv import RidgeCV as RidgeCV
from .rna_folder import RnaFolder as RnaFolder
from .sgd import SGDClassifier as SGDClassifier, SGDRegressor as SGDRegressor
from .structured_estimators import ConditionalRandomField as ConditionalRandomField, StructuredSVM as StructuredSVM
from .svm import LinearSVC as LinearSVC, LinearSVR as LinearSVR
from .tagger import Tagger as Tagger

STRUCTURED: tuple[str, ...]

#: Any of the estimators, as :func:`fenchel.load` returns it.
Estimator = (
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
