"""What model files may hold, and which classes they may name

Nothing in a file is looked up anywhere else than here. New kinds of models join in two ways: as a class in a module of
``fenchel.estimators``, or by ``MODELS[name] = class``. It needs ``get_params()``, a constructor that takes these, and fitted attributes
whose names end in an underscore. Objects among them that turn themselves into JSON by ``to_json()`` and back by ``from_json()`` are
listed in ``JSON_CLASSES``.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from typing import Any

import numpy as np
import scipy.sparse as sp

from fenchel.registry import members

DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
SPARSE = {f"{form}_{kind}": getattr(sp, f"{form}_{kind}") for form in ("csr", "csc") for kind in ("array", "matrix")}
ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]*_", re.ASCII | re.IGNORECASE)

MODELS: dict[str, Any] = {}
JSON_CLASSES: dict[str, tuple[str, str]] = {"Encoding": ("fenchel.datasets.tables", "Encoding")}


class ModelFileError(ValueError):
    """A model that cannot be stored, or a file that is no model or not a whole one."""


def models() -> dict[str, Any]:
    """The classes that model files may name."""
    if importlib.util.find_spec("fenchel.estimators") is None:
        return MODELS
    package = importlib.import_module("fenchel.estimators")
    found = members(package, lambda value: isinstance(value, type) and hasattr(value, "get_params"))
    return {**{cls.__name__: cls for cls in found.values()}, **MODELS}


def parts() -> dict[str, Any]:
    """Losses and regularizers of fenchel, the NamedTuples that parameters may be."""
    from fenchel.losses import losses
    from fenchel.regularizers import regularizers

    return {cls.__name__: cls for cls in (*losses().values(), *regularizers().values())}


def json_class(name: str) -> Any:
    """The class of that name in the list of those that speak JSON, or None."""
    if name not in JSON_CLASSES:
        return None
    module, attribute = JSON_CLASSES[name]
    return getattr(importlib.import_module(module), attribute)


def check_model(model: Any, where: str) -> None:
    """Refuse weights that are not finite, and attributes that do not fit each other."""
    coef: Any = getattr(model, "coef_", None)
    intercept: Any = getattr(model, "intercept_", None)
    for name, value in (("coef_", coef), ("intercept_", intercept)):
        data = value.data if sp.issparse(value) else value
        if data is not None and not (np.asarray(data).dtype.kind in "fiub" and np.isfinite(data).all()):
            raise ModelFileError(f"{where}{name} holds weights that are not finite numbers: fit the model again.")
    if coef is None:
        return
    shape = np.shape(coef) if not sp.issparse(coef) else coef.shape
    rows = shape[0] if len(shape) == 2 else 1
    laws = {
        "coef_": len(shape) in (1, 2),
        "classes_": rows in classifier_rows(model, rows),
        "intercept_": intercept is None or np.size(intercept) in (1, rows),
    }
    if getattr(model, "encoding_", None) is None:  # which makes several columns of one
        laws["n_features_in_"] = getattr(model, "n_features_in_", shape[-1:]) in (shape[-1:], *shape[-1:])
    names = getattr(model, "feature_names_in_", None)
    if names is not None and hasattr(model, "n_features_in_"):
        laws["feature_names_in_"] = np.shape(names) == (model.n_features_in_,)
    for name, holds in laws.items():
        if not holds:
            size = np.shape(getattr(model, name)) or getattr(model, name)
            raise ModelFileError(f"{where}{name} ({size}) and coef_ of shape {shape} do not fit each other: fit the model again.")


def classifier_rows(model: Any, rows: int) -> tuple[int, ...]:
    """How many rows of weights a model with such classes may have."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return (rows,)
    return (1, 2) if len(classes) == 2 else (len(classes),)
