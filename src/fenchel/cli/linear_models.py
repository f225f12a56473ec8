"""Linear models from the shell: options to parameters, rows held out, progress with a score on them, and what models are made of."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from fenchel.cli import training
from fenchel.cli.inputs import like
from fenchel.cli.model_scores import is_classifier, quick_score
from fenchel.cli.training import Outcome
from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.datasets import Data

SHOWN_EVERY = 0.2  # seconds: a score takes a product with the rows held out
FOR_CLASSES = ("class_weight", "multiclass", "calibration")


def model_for(task: str, parameters: dict[str, Any]) -> Any:
    """An estimator with these parameters; those left out keep their defaults."""
    import fenchel as fl

    given = {name: value for name, value in parameters.items() if value is not None}
    given["penalty"] = penalty_option(given["penalty"])
    if task == "classify":
        return fl.LinearClassifier(**given)
    for name in FOR_CLASSES:
        if given.pop(name, "auto") != "auto":
            raise InputError(
                Argument(name, ...), " is for classification, and these labels are numbers to regress on: leave it out, or give --task."
            )
    return fl.LinearRegressor(**given)


def penalty_option(name: str) -> str | None:
    """The penalty of that name as estimators take it: none is None."""
    from fenchel.estimators.penalties import PENALTIES

    named = {penalty or "none": penalty for penalty in PENALTIES}
    return named[checked_choice("penalty", name, named)]


def held_out(data: Data, validation: str | None, seed: int, format: str | None) -> tuple[Data, Data | None]:
    """The rows to learn from, and those to judge by: a share of them, or another file's."""
    if validation is None:
        return data, None
    try:
        share = float(validation)
    except ValueError:
        other = like(data, validation, format)
        if other.y is None:
            raise InputError(f"{validation} has no labels to judge the model by: give rows with the target column.") from None
        return data, other
    count = round(share * len(data)) if 0.0 < share < 1.0 else 0
    if not 0 < count < len(data):
        raise InputError(f"--validation {validation}: give a file, or a share of the {len(data):,} rows that is neither none nor all.")
    order = np.random.default_rng(seed).permutation(len(data))
    return rows_of(data, np.sort(order[count:])), rows_of(data, np.sort(order[:count]))


def rows_of(data: Data, rows: np.ndarray) -> Data:
    """Some of the rows."""
    part = {name: values[rows] for name in ("y", "qid", "sample_weight") if (values := getattr(data, name)) is not None}
    return replace(data, X=data.X[rows], **part)


def fit_with_progress(model: Any, data: Data, held: Data | None, visible: bool) -> Outcome:
    """Fit the model, with a progress bar that shows its score on the rows held out if ``visible``."""
    from fenchel.driver.progress import progress_bar

    with progress_bar("training", visible, model.max_passes) as show:
        if visible:
            model.set_callbacks(_Watcher(show, held))
        outcome = training.fit(model, lambda: model.fit(data.X, data.y, data.sample_weight))
    model.set_callbacks()
    _keep_names(model, data)
    if getattr(model, "calibration", None) is not None and not hasattr(model, "calibration_"):
        model.set_params(calibration=None)
        warnings.warn("The probabilities had not been learnt yet: the model has none.", stacklevel=2)
    return outcome


def _keep_names(model: Any, data: Data) -> None:
    """How tables become numbers goes with the model; so do the names of columns that came without a table."""
    if data.encoding is not None:
        model.encoding_ = data.encoding
    if data.index_base is not None:
        model.index_base_ = data.index_base
    if data.encoding is None and data.feature_names is not None:
        model.feature_names_ = np.array(data.feature_names, dtype=object)


def names_of(model: Any) -> list[str] | None:
    """What the model's columns are called, where that is known."""
    if getattr(model, "encoding_", None) is not None:
        return list(model.encoding_.feature_names)
    found = getattr(model, "feature_names_", getattr(model, "feature_names_in_", None))
    return None if found is None else [str(name) for name in found]


class _Watcher:
    """A callback in scikit-learn's protocol: where the run stands, and how good the model is so far."""

    def __init__(self, show: Any, held: Data | None) -> None:
        self.show, self.held, self.last, self.note = show, held, -math.inf, ""

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None, fitted_estimator: Any = None) -> bool:
        """Show an evaluation."""
        if metadata and "evaluation" in metadata:
            self._score(fitted_estimator)
            self.show(metadata["evaluation"], metadata["target"], self.note)
        return False

    def _score(self, model: Any) -> None:
        if self.held is None or self.held.y is None or time.perf_counter() - self.last < SHOWN_EVERY:
            return
        name, score = quick_score(model, self.held.X, self.held.y)
        self.note = f"{name} {score:.4f}"
        self.last = time.perf_counter()


def weight_rows(model: Any) -> np.ndarray:
    """``coef_`` as rows, one for each class or output."""
    coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
    return np.atleast_2d(np.asarray(coef))


def described(model: Any) -> dict[str, Any]:
    """What was minimised, in the names of the options."""
    options = {name: getattr(model, name) for name in ("loss", "penalty", "strength") if hasattr(model, name)}
    if options.get("penalty") == "elasticnet":
        options["l1_ratio"] = model.l1_ratio
    if options.get("penalty") == "lp":
        options["p"] = model.p
    return {name: value if isinstance(value, (int, float, str, type(None))) else repr(value) for name, value in options.items()}


def classes_of(model: Any) -> Any:
    """The classes, None for regression."""
    return model.classes_ if is_classifier(model) else None
