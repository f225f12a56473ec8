"""The types and classes that model files may contain

Class names in a file are looked up only here. To add a class of models, put it into a module of ``fenchel.estimators``, or set
``MODELS[name] = class``. It needs ``get_params()``, a constructor that accepts these parameters, and fitted attributes whose names end in
an underscore; a model with other attributes is refused, because loading could not restore them. Objects that convert themselves to JSON
with ``to_json()`` and back with ``from_json()`` are listed in ``JSON_CLASSES``.
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
from fenchel.persistence.model_types import misfit
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
# Names of losses and regularizers in earlier versions: the present class, and its fields in the earlier order.
EARLIER_PARTS: dict[str, tuple[Any, tuple[str, ...]]] = {"ElasticNet": (L1L2, ("l2", "l1"))}


class ModelFileError(InputError):
    """A model that cannot be saved, or a file that is damaged or not a model."""


def models() -> dict[str, Any]:
    """The classes that model files may name."""
    from fenchel import estimators  # here, because scikit-learn is slow to import

    return {**{name: getattr(estimators, name) for name in dir(estimators)}, **MODELS}


def parts() -> dict[str, Any]:
    """The losses and regularizers of fenchel, which are NamedTuples and may be parameters."""
    return {cls.__name__: cls for cls in (*losses().values(), *regularizers().values(), NoPenalty, Linear)}


def check_model(model: Any, where: str) -> None:
    """Refuse values of undeclared types, weights that are not finite, and attributes with inconsistent shapes."""
    wrong = misfit(model, model.get_params(deep=False))
    if wrong is not None:
        raise ModelFileError(f"{where}{wrong}: fit the model again.")
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
        raise ModelFileError(f"{where}coef_ has the shape {shape}: it must have one or two dimensions.")
    for name, fits in shape_conditions(model, shape).items():
        value = getattr(model, name, None)
        if value is not None and not fits(value):
            described = f"of shape {value.shape}" if isinstance(value, np.ndarray) else f"= {str(value)[:40]}"
            raise ModelFileError(f"{where}{name} {described} is inconsistent with coef_ of shape {shape}: fit the model again.")


def are_finite(numbers: Any) -> bool:
    """Whether the value is a number or an array of numbers, all finite."""
    if not isinstance(numbers, (int, float, np.generic, np.ndarray)):
        return False
    return np.asarray(numbers).dtype.kind in "fiu" and bool(np.isfinite(numbers).all())


def shape_conditions(model: Any, shape: tuple[int, ...]) -> dict[str, Callable[[Any], bool]]:
    """The conditions on a model's attributes, given the shape of its weights."""
    rows, columns = (1, *shape)[-2:]
    conditions: dict[str, Callable[[Any], bool]] = {
        "classes_": lambda value: isinstance(value, np.ndarray) and value.shape == (max(rows, 2),),
        "intercept_": lambda value: np.ndim(value) <= 1 and np.size(value) in (1, rows),
        "feature_names_": lambda value: isinstance(value, np.ndarray) and value.shape == (columns,),
        "model_": lambda value: len(shape) == 1 and getattr(value, "n", None) == columns,
    }
    if getattr(model, "encoding_", None) is None:  # an encoding turns one column into several
        conditions["n_features_in_"] = lambda value: isinstance(value, (int, np.integer)) and value == columns
        conditions["feature_names_in_"] = lambda value: isinstance(value, np.ndarray) and value.shape == (columns,)
    return conditions
