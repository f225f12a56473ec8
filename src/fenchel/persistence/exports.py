"""Export models to ONNX, liblinear's text format and Vowpal Wabbit

All three formats hold only the weights of a linear model; models that need more are refused. Columns are identified by their numbers,
which count from 0 in ONNX and Vowpal Wabbit and from 1 in liblinear.

- ``onnx``: input ``X``, a float32 matrix; outputs ``label`` and ``probabilities`` (scores if the model has none), or
  ``variable`` for regression. Weights are rounded to float32.
- ``liblinear``: the format of liblinear's ``save_model``, for its ``predict``, with exact weights. Classes must be whole
  numbers. Probabilities (``-b 1``) are available only if liblinear computes them as the model does.
- ``vw``: a model for ``vw -i FILE -t`` in its binary format, since the text of ``--readable_model`` cannot be loaded. Rows have the
  form ``| 0:1.5 7:2``. The prediction is the score for two classes, above 0 for the second; for more classes it is 1, 2, … in the order
  of ``classes_``. The intercept is the weight of the constant feature. Weights are rounded to float32.
"""

from __future__ import annotations

import errno
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fenchel.core.atomic_files import checked_place, replacing
from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice

VW_CONSTANT = 11650396  # the index of the constant feature in Vowpal Wabbit, before it is reduced modulo 2^bits
VW_BITS = range(18, 31)
PROBES = 16  # rows on which the rule of the probabilities is determined


class LinearWeights(NamedTuple):
    """A linear model with scores ``X @ coef.T + intercept``: one for two classes (above 0: the second), else one per class."""

    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None  #: None for regression
    probabilities: str | None  #: "sigmoid" of each score, normalised to sum 1; "softmax" of all scores; None without probabilities


def export(model: Any, path: str | os.PathLike[str], format: str = "onnx") -> None:
    """Write a fitted model in a format of other programs: ``"onnx"``, ``"liblinear"`` or ``"vw"``; the guide describes each.

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
    """The weights of a fitted model in the form of ``LinearWeights``."""
    name = type(model).__name__
    coef: Any = getattr(model, "coef_", None)
    if coef is None:
        raise InputError(f"{name} has no coef_: fit it first; only linear models can be exported.")
    if getattr(model, "encoding_", None) is not None:
        raise InputError(
            f"{name} includes the encoding of a table, which other programs do not support: fit it on numbers, then export it."
        )
    if hasattr(model, "model_"):
        raise InputError(f"{name} is a structured model, which these formats cannot hold: only linear models can be exported.")
    if getattr(model, "normalize", False):
        raise InputError(
            f"{name} with ",
            Argument("normalize", True),
            " scales features itself, which other programs do not support: fit it on scaled features.",
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
        raise InputError(f"{name} has {len(classes)} classes and {len(coef)} rows of weights, which is inconsistent: fit it again.")
    linear = LinearWeights(coef, intercept, np.asarray(classes), None)
    return linear._replace(probabilities=probability_rule(model, linear)) if hasattr(model, "predict_proba") else linear


def probability_rule(model: Any, linear: LinearWeights) -> str:
    """The rule of the model's probabilities, determined by evaluating them on random rows."""
    n = linear.coef.shape[1]
    columns = np.argsort(-np.abs(linear.coef).max(axis=0), kind="stable")[:PROBES]
    values = np.random.default_rng(0).standard_normal((PROBES, len(columns)))
    X = sp.csr_matrix((values.ravel(), np.tile(columns, PROBES), len(columns) * np.arange(PROBES + 1)), shape=(PROBES, n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model may warn of missing feature names
        expected = np.asarray(model.predict_proba(X))
    scores = X @ linear.coef.T + linear.intercept
    for name, rule in RULES.items():
        if np.allclose(rule(scores), expected, rtol=1e-6, atol=1e-9):
            return name
    raise InputError(
        f"{type(model).__name__} gives calibrated probabilities, which these formats cannot hold: export it without calibration."
    )


def sigmoid_probabilities(scores: np.ndarray) -> np.ndarray:
    """The sigmoid of each score; for more than two classes normalised to sum 1."""
    p = 0.5 * (1.0 + np.tanh(0.5 * scores))
    return np.hstack([1.0 - p, p]) if p.shape[1] == 1 else p / p.sum(axis=1, keepdims=True)


def softmax_probabilities(scores: np.ndarray) -> np.ndarray:
    """The softmax of all scores."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


RULES: dict[str, Callable[[np.ndarray], np.ndarray]] = {"sigmoid": sigmoid_probabilities, "softmax": softmax_probabilities}


def write_liblinear(linear: LinearWeights, path: Path) -> None:
    """Write the text of liblinear's ``save_model``: one line of weights per column, the bias last."""
    coef, intercept, classes, _ = linear
    lines = [f"solver_type {liblinear_solver(linear)}", f"nr_class {2 if classes is None else len(classes)}"]
    if classes is not None:
        lines.append("label " + " ".join(map(str, liblinear_labels(classes))))
    elif len(coef) > 1:
        raise InputError(f"The model predicts {len(coef)} outputs, and liblinear supports one: export one model per output.")
    biased = bool(intercept.any())
    lines += [f"nr_feature {coef.shape[1]}", f"bias {1 if biased else -1}", "w"]
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write("\n".join(lines) + "\n")
        for weights in (*coef.T, *([intercept] if biased else [])):
            file.write(" ".join(f"{weight:.17g}" for weight in weights) + " \n")


def liblinear_solver(linear: LinearWeights) -> str:
    """A solver type with which liblinear predicts as the model does: only L2R_LR has probabilities, and they are not a softmax."""
    if linear.classes is None:
        return "L2R_L2LOSS_SVR"
    if linear.probabilities == "sigmoid":
        return "L2R_LR"
    return "L2R_L2LOSS_SVC_DUAL" if len(linear.classes) == 2 else "MCSVM_CS"


def liblinear_labels(classes: np.ndarray) -> list[int]:
    """The classes as whole numbers; of two classes liblinear expects the one with positive scores first."""
    labels = whole_classes(classes, 2**31, "liblinear").tolist()
    return labels[::-1] if len(labels) == 2 else labels


def whole_classes(classes: np.ndarray, limit: int, program: str) -> np.ndarray:
    """The classes as whole numbers; an error if they are not whole numbers below the limit."""
    numbers = classes.astype(np.float64) if classes.dtype.kind in "iufb" else np.full(len(classes), np.nan)
    if not (np.isfinite(numbers) & (numbers == np.rint(numbers)) & (np.abs(numbers) < limit)).all():
        raise InputError(f"{program} needs whole numbers as classes, and these are {', '.join(map(str, classes[:3]))}…: number them first.")
    return classes.astype(np.int64)


def write_vw(linear: LinearWeights, path: Path) -> None:
    """Write a Vowpal Wabbit model by setting its weights; the limits on predictions are lifted, because they would truncate scores."""
    try:
        from vowpalwabbit import Workspace
    except ImportError:
        raise ModuleNotFoundError('Vowpal Wabbit models need the package vowpalwabbit: pip install "fenchel[vw]".') from None
    coef, intercept, classes, _ = linear
    if classes is None and len(coef) > 1:
        raise InputError(f"The model predicts {len(coef)} outputs, and Vowpal Wabbit supports one: export one model per output.")
    biased = bool(intercept.any())
    step = 1 << (len(coef) - 1).bit_length()  # a column has one weight per class, padded to a power of two
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
        with tempfile.TemporaryDirectory() as folder:  # it writes to a temporary file of its own, and leaves it behind if that fails
            written = Path(folder, "model")
            workspace.save(os.fspath(written))
            path.write_bytes(written.read_bytes())
    except RuntimeError as error:  # it does not say why it cannot write
        raise OSError(errno.EIO, f"Vowpal Wabbit could not write the file ({error}): check the space on the disk") from None
    finally:
        workspace.finish()


def vw_bits(n: int, step: int, biased: bool) -> int:
    """The smallest number of bits, from the default 18, with which no two weights share an index."""
    for bits in VW_BITS:
        if n * step <= 2**bits and not (biased and VW_CONSTANT * step % 2**bits < n * step):
            return bits
    raise InputError(f"{n} columns of {step} weights and the constant are too many for Vowpal Wabbit: use another format.")


def write_onnx(linear: LinearWeights, path: Path) -> None:
    """Convert an equivalent scikit-learn estimator to ONNX."""
    try:
        from skl2onnx import to_onnx
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError:
        raise ModuleNotFoundError('ONNX models need the package skl2onnx: pip install "fenchel[onnx]".') from None
    estimator = equivalent_estimator(linear)
    options = {} if linear.classes is None else {"raw_scores": True} if linear.probabilities is None else {"zipmap": False}
    converted = to_onnx(estimator, initial_types=[("X", FloatTensorType([None, linear.coef.shape[1]]))], options={id(estimator): options})
    if linear.classes is not None:  # for two classes and scores the converter declares one column but writes two
        converted.graph.output[1].type.tensor_type.shape.dim[1].dim_value = len(linear.classes)
    path.write_bytes(converted.SerializeToString())


def equivalent_estimator(linear: LinearWeights) -> Any:
    """A scikit-learn estimator with these weights."""
    from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
    from sklearn.svm import LinearSVC

    coef, intercept, classes, probabilities = linear
    estimator: Any
    if classes is None:
        estimator = LinearRegression()
        coef, intercept = (coef[0], intercept[0]) if len(coef) == 1 else (coef, intercept)
    elif probabilities is None:
        estimator = LinearSVC()
    else:
        estimator = LogisticRegression() if probabilities == "softmax" or len(classes) == 2 else SGDClassifier(loss="log_loss")
    estimator.coef_, estimator.intercept_, estimator.n_features_in_ = coef, np.array(intercept), coef.shape[-1]
    if classes is not None:
        estimator.classes_ = classes if classes.dtype.kind in "OU" else whole_classes(classes, 2**53, "ONNX")
    return estimator


FORMATS: dict[str, Callable[[LinearWeights, Path], None]] = {"liblinear": write_liblinear, "onnx": write_onnx, "vw": write_vw}
