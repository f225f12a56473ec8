"""What model files may hold, and which classes they may name

Nothing in a file is looked up anywhere else than here. New kinds of models join in two ways: as a class in a module of
``fenchel.estimators``, or by ``MODELS[name] = class``. It needs ``get_params()``, a constructor that takes these, and fitted attributes
whose names end in an underscore; one that has learnt anything else is refused, for it would come back without. Objects that turn
themselves into JSON by ``to_json()`` and back by ``from_json()`` are listed in ``JSON_CLASSES``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.core.errors import InputError
from fenchel.datasets import Encoding
from fenchel.losses import losses
from fenchel.regularizers import L1L2, regularizers
from fenchel.regularizers.box import Linear, NoPenalty
from fenchel.structured import Chain, Multiclass, Ranking, RnaFold

DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
SPARSE = {f"{form}_{kind}": getattr(sp, f"{form}_{kind}") for form in ("csr", "csc") for kind in ("array", "matrix")}
ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]*_", re.ASCII | re.IGNORECASE)

MODELS: dict[str, Any] = {}
JSON_CLASSES: dict[str, Any] = {cls.__name__: cls for cls in (Encoding, Chain, Multiclass, Ranking, RnaFold)}
# Losses and regularizers as earlier versions named them: the class of today, and its fields in the order of then.
EARLIER_PARTS: dict[str, tuple[Any, tuple[str, ...]]] = {"ElasticNet": (L1L2, ("l2", "l1"))}


class ModelFileError(InputError):
    """A model that cannot be stored, or a file that is no model or not a whole one."""


def models() -> dict[str, Any]:
    """The classes that model files may name."""
    from fenchel import estimators  # here, for scikit-learn takes longer to import than all the rest

    return {**{name: getattr(estimators, name) for name in estimators.__all__}, **MODELS}


def parts() -> dict[str, Any]:
    """Losses and regularizers of fenchel, the NamedTuples that parameters may be."""
    return {cls.__name__: cls for cls in (*losses().values(), *regularizers().values(), NoPenalty, Linear)}


def check_model(model: Any, where: str) -> None:
    """Refuse weights that are not finite, and attributes that do not fit each other."""
    coef = getattr(model, "coef_", None)
    for name in ("coef_", "intercept_"):
        value: Any = getattr(model, name, None)
        if value is not None and not are_finite(value.data if sp.issparse(value) else value):
            raise ModelFileError(f"{where}{name} holds weights that are not finite numbers: fit the model again.")
    try:
        getattr(model, "_check_loaded", lambda: None)()
    except ValueError as error:
        raise ModelFileError(f"{where}{error}: fit the model again.") from None
    if coef is None:
        return
    shape = coef.shape if sp.issparse(coef) else np.shape(coef)
    if len(shape) not in (1, 2):
        raise ModelFileError(f"{where}coef_ has the shape {shape}: weights are a row, or a row for each class.")
    for name, fits in wanted_shapes(model, shape).items():
        value = getattr(model, name, None)
        if value is not None and not fits(value):
            told = f"of shape {value.shape}" if isinstance(value, np.ndarray) else f"= {str(value)[:40]}"
            raise ModelFileError(f"{where}{name} {told} and coef_ of shape {shape} do not fit each other: fit the model again.")


def are_finite(numbers: Any) -> bool:
    """Whether it is a number or an array of numbers, all finite."""
    if not isinstance(numbers, (int, float, np.generic, np.ndarray)):
        return False
    return np.asarray(numbers).dtype.kind in "fiu" and bool(np.isfinite(numbers).all())


def wanted_shapes(model: Any, shape: tuple[int, ...]) -> dict[str, Callable[[Any], bool]]:
    """What must hold of a model's attributes, given the shape of its weights."""
    rows, columns = (1, *shape)[-2:]
    laws: dict[str, Callable[[Any], bool]] = {
        "classes_": lambda value: isinstance(value, np.ndarray) and value.shape == (max(rows, 2),),
        "intercept_": lambda value: np.size(value) in (1, rows),
        "model_": lambda value: len(shape) == 1 and getattr(value, "n", None) == columns,
    }
    if getattr(model, "encoding_", None) is None:  # it makes several columns of one
        laws["n_features_in_"] = lambda value: isinstance(value, (int, np.integer)) and value == columns
        laws["feature_names_in_"] = lambda value: isinstance(value, np.ndarray) and value.shape == (columns,)
    return laws
