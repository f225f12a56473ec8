"""Models for other programs: ONNX, liblinear's text, Vowpal Wabbit

All three hold a linear model's weights and no more; what they cannot say is refused. Columns are told by their numbers: from 0 in ONNX
and Vowpal Wabbit, from 1 in liblinear, as each has it.

- ``onnx``: input ``X``, a float32 matrix; outputs ``label`` and ``probabilities`` (scores where the model has none), or
  ``variable`` for regression. Weights are rounded to float32.
- ``liblinear``: what liblinear's ``save_model`` writes, for its ``predict``; every weight to its last digit. Classes must be whole
  numbers. Probabilities (``-b 1``) are offered only where liblinear's rule is the model's.
- ``vw``: a regressor for ``vw -i FILE -t``, in its own binary format: the text of ``--readable_model`` can be read, but not loaded.
  Rows are such as ``| 0:1.5 7:2``. Two classes: the score, above 0 for the second; more: 1, 2, … in the order of ``classes_``.
  The intercept is the weight of its constant. Weights are rounded to float32.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.atomic_files import checked_place, replacing
from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice

VW_CONSTANT = 11650396  # the index of its constant feature, before it is cut to the bits there are
VW_BITS = range(18, 31)
PROBES = 16


class LinearWeights(NamedTuple):
    """A linear model: scores are ``X @ coef.T + intercept``, one for two classes (above 0: the second), else one for each."""

    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None  #: None for regression
    probabilities: str | None  #: "sigmoid" of each score, scaled to sum to 1; "softmax" of all; None if there are none


def export(model: Any, path: str | os.PathLike[str], format: str = "onnx") -> None:
    """Write a fitted model for other programs, as ``"onnx"``, ``"liblinear"`` or ``"vw"``; the guide tells what each holds.

    ONNX needs ``pip install "fenchel[onnx]"``, Vowpal Wabbit ``pip install "fenchel[vw]"``. Fitted linear models of scikit-learn
    can be exported as well.

    >>> import tempfile
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression(fit_intercept=False).fit([[-1.0], [1.0]], [3, 5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(model, folder + "/model", format="liblinear")
    ...     Path(folder, "model").read_text().splitlines()[:3]
    ['solver_type L2R_LR', 'nr_class 2', 'label 5 3']
    """
    write = FORMATS[checked_choice("format", format, FORMATS)]
    checked_place(path)
    linear = linear_weights(model)
    with replacing(path) as temporary:
        write(linear, temporary)


def linear_weights(model: Any) -> LinearWeights:
    """The weights of a fitted model, in one form."""
    name = type(model).__name__
    coef: Any = getattr(model, "coef_", None)
    if coef is None:
        raise InputError(f"{name} has no coef_: fit it first; only linear models can be exported.")
    if getattr(model, "encoding_", None) is not None:
        raise InputError(f"{name} turns tables into numbers itself, which other programs do not: fit it on the numbers, then export it.")
    if hasattr(model, "model_"):
        raise InputError(f"{name} decodes outputs with structure, which these formats cannot hold: only linear models can be exported.")
    if getattr(model, "normalize", False):
        raise InputError(
            f"{name} with ", Argument("normalize", True), " scales features itself, which other programs do not: fit it on scaled ones."
        )
    coef = np.atleast_2d(np.asarray(coef.toarray() if sp.issparse(coef) else coef, dtype=np.float64))
    intercept = np.broadcast_to(np.asarray(getattr(model, "intercept_", 0.0), dtype=np.float64).ravel(), len(coef))
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise InputError(f"{name} has weights that are not finite: fit it again.")
    classes = getattr(model, "classes_", None)
    if classes is None:
        return LinearWeights(coef, intercept, None, None)
    if len(classes) == 2 and len(coef) == 2:
        coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    if len(coef) != (1 if len(classes) == 2 else len(classes)):
        raise InputError(f"{name} has {len(classes)} classes and {len(coef)} rows of weights, which do not fit: fit it again.")
    linear = LinearWeights(coef, intercept, np.asarray(classes), None)
    return linear._replace(probabilities=probability_rule(model, linear)) if hasattr(model, "predict_proba") else linear


def probability_rule(model: Any, linear: LinearWeights) -> str:
    """The rule that the model's probabilities follow, found by asking for some."""
    n = linear.coef.shape[1]
    columns = np.argsort(-np.abs(linear.coef).max(axis=0), kind="stable")[:PROBES]
    values = np.random.default_rng(0).standard_normal((PROBES, len(columns)))
    X = sp.csr_matrix((values.ravel(), np.tile(columns, PROBES), len(columns) * np.arange(PROBES + 1)), shape=(PROBES, n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may miss the names of columns
        told = np.asarray(model.predict_proba(X))
    scores = X @ linear.coef.T + linear.intercept
    for name, rule in RULES.items():
        if np.allclose(rule(scores), told, rtol=1e-6, atol=1e-9):
            return name
    raise InputError(f"{type(model).__name__} gives calibrated probabilities, which no other format holds: export it without calibration.")


def sigmoid_probabilities(scores: np.ndarray) -> np.ndarray:
    """Of each score by itself; for more than two classes scaled to sum to 1."""
    p = 0.5 * (1.0 + np.tanh(0.5 * scores))
    return np.hstack([1.0 - p, p]) if p.shape[1] == 1 else p / p.sum(axis=1, keepdims=True)


def softmax_probabilities(scores: np.ndarray) -> np.ndarray:
    """Of all scores."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


RULES: dict[str, Callable[[np.ndarray], np.ndarray]] = {"sigmoid": sigmoid_probabilities, "softmax": softmax_probabilities}


def write_liblinear(linear: LinearWeights, path: Path) -> None:
    """The text of liblinear's ``save_model``: a row of weights for each column, that of the bias last."""
    coef, intercept, classes, _ = linear
    lines = [f"solver_type {liblinear_solver(linear)}", f"nr_class {2 if classes is None else len(classes)}"]
    if classes is not None:
        lines.append("label " + " ".join(map(str, liblinear_labels(classes))))
    elif len(coef) > 1:
        raise InputError(f"The model predicts {len(coef)} numbers at once, and liblinear one: export one model for each.")
    biased = bool(intercept.any())
    lines += [f"nr_feature {coef.shape[1]}", f"bias {1 if biased else -1}", "w"]
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write("\n".join(lines) + "\n")
        for weights in (*coef.T, *([intercept] if biased else [])):
            file.write(" ".join(f"{weight:.17g}" for weight in weights) + " \n")


def liblinear_solver(linear: LinearWeights) -> str:
    """A name under which liblinear predicts as the model does: probabilities belong to L2R_LR alone, and are no softmax."""
    if linear.classes is None:
        return "L2R_L2LOSS_SVR"
    if linear.probabilities == "sigmoid":
        return "L2R_LR"
    return "L2R_L2LOSS_SVC_DUAL" if len(linear.classes) == 2 else "MCSVM_CS"


def liblinear_labels(classes: np.ndarray) -> list[int]:
    """The classes as liblinear has them: whole numbers, and of two the one with positive scores first."""
    labels = whole_classes(classes, 2**31, "liblinear").tolist()
    return labels[::-1] if len(labels) == 2 else labels


def whole_classes(classes: np.ndarray, limit: int, whose: str) -> np.ndarray:
    """The classes as whole numbers below a limit, if they are."""
    numbers = classes.astype(np.float64) if classes.dtype.kind in "iufb" else np.full(len(classes), np.nan)
    if not (np.isfinite(numbers) & (numbers == np.rint(numbers)) & (np.abs(numbers) < limit)).all():
        raise InputError(f"The classes of {whose} are whole numbers, and these are {', '.join(map(str, classes[:3]))}…: number them first.")
    return classes.astype(np.int64)


def write_vw(linear: LinearWeights, path: Path) -> None:
    """A regressor of Vowpal Wabbit, its weights set one by one; without limits, which would cut scores off."""
    try:
        from vowpalwabbit import Workspace
    except ImportError:
        raise ModuleNotFoundError('Vowpal Wabbit models need its package: pip install "fenchel[vw]".') from None
    coef, intercept, classes, _ = linear
    if classes is None and len(coef) > 1:
        raise InputError(f"The model predicts {len(coef)} numbers at once, and Vowpal Wabbit one: export one model for each.")
    biased = bool(intercept.any())
    step = 1 << (len(coef) - 1).bit_length()  # the weights of a column's classes lie side by side, in a power of two
    bits = vw_bits(coef.shape[1], step, biased)
    options = f"--quiet --no_stdin -b {bits} --min_prediction -1e30 --max_prediction 1e30"
    options += "" if classes is None else " --loss_function logistic"
    options += "" if len(coef) == 1 else f" --oaa {len(coef)}"
    workspace = Workspace(options if biased else f"{options} --noconstant")
    try:
        for k, j in zip(*(found.tolist() for found in np.nonzero(coef)), strict=True):
            workspace.set_weight(j * step + k, 0, coef[k, j])
        for k, weight in enumerate(intercept if biased else ()):
            workspace.set_weight((VW_CONSTANT * step + k) % 2**bits, 0, weight)
        workspace.save(os.fspath(path))
    finally:
        workspace.finish()


def vw_bits(n: int, step: int, biased: bool) -> int:
    """The fewest bits, from the usual 18, with which every weight has a place of its own."""
    for bits in VW_BITS:
        if n * step <= 2**bits and not (biased and VW_CONSTANT * step % 2**bits < n * step):
            return bits
    raise InputError(f"{n} columns of {step} weights leave Vowpal Wabbit no place for all of them and its constant: use another format.")


def write_onnx(linear: LinearWeights, path: Path) -> None:
    """The model's plain twin in scikit-learn, converted."""
    try:
        from skl2onnx import to_onnx
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError:
        raise ModuleNotFoundError('ONNX models need a converter: pip install "fenchel[onnx]".') from None
    twin = plain_twin(linear)
    options = {} if linear.classes is None else {"raw_scores": True} if linear.probabilities is None else {"zipmap": False}
    told = to_onnx(twin, initial_types=[("X", FloatTensorType([None, linear.coef.shape[1]]))], options={id(twin): options})
    if linear.classes is not None:  # for two classes and scores the converter declares one column and writes two
        told.graph.output[1].type.tensor_type.shape.dim[1].dim_value = len(linear.classes)
    path.write_bytes(told.SerializeToString())


def plain_twin(linear: LinearWeights) -> Any:
    """A scikit-learn estimator with these weights."""
    from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
    from sklearn.svm import LinearSVC

    coef, intercept, classes, probabilities = linear
    twin: Any
    if classes is None:
        twin = LinearRegression()
        coef, intercept = (coef[0], intercept[0]) if len(coef) == 1 else (coef, intercept)
    elif probabilities is None:
        twin = LinearSVC()
    else:
        twin = LogisticRegression() if probabilities == "softmax" or len(classes) == 2 else SGDClassifier(loss="log_loss")
    twin.coef_, twin.intercept_, twin.n_features_in_ = coef, np.array(intercept), coef.shape[-1]
    if classes is not None:
        twin.classes_ = classes if classes.dtype.kind in "OU" else whole_classes(classes, 2**53, "ONNX")
    return twin


FORMATS: dict[str, Callable[[LinearWeights, Path], None]] = {"liblinear": write_liblinear, "onnx": write_onnx, "vw": write_vw}
