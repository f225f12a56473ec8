"""Linear models on the command line: parameters from options, validation rows, progress with a validation score, model descriptions."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from fenchel.cli import training
from fenchel.cli.inputs import read_validation_rows
from fenchel.cli.model_scores import is_classifier, quick_score
from fenchel.cli.training import Outcome
from fenchel.core.errors import Argument, InputError
from fenchel.core.validation import checked_choice
from fenchel.datasets import Data
from fenchel.linalg.rows_on_disk import rows_on_disk

SHOWN_EVERY = 0.2  # seconds between validation scores, each of which costs a product with the validation rows
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
                Argument(name, ...), " is for classification, and the task is regression: leave it out, or give --task classify."
            )
    return fl.LinearRegressor(**given)


def penalty_option(name: str) -> str | None:
    """The penalty as estimators spell it: "none" becomes None."""
    from fenchel.estimators.penalties import PENALTIES

    named = {penalty or "none": penalty for penalty in PENALTIES}
    return named[checked_choice("penalty", name, named)]


def held_out(data: Data, validation: str | None, seed: int, format: str | None) -> tuple[Data, Data | None]:
    """The training rows and the validation rows, which are a share of the data or come from another file."""
    if validation is None:
        return data, None
    try:
        share = float(validation)
    except ValueError:
        other = read_validation_rows(data, validation, format)
        if other.y is None:
            raise InputError(f"{validation} has no labels to evaluate the model on: give rows with the target column.") from None
        return data, other
    count = round(share * len(data)) if 0.0 < share < 1.0 else 0
    if not 0 < count < len(data):
        raise InputError(f"--validation {validation}: give a file, or a share of the {len(data):,} rows that leaves rows on both sides.")
    if rows_on_disk(data.X) is not None:
        raise InputError(f"--validation {validation}: a share of rows larger than the memory would be copied; give a second store.")
    order = np.random.default_rng(seed).permutation(len(data))
    return rows_of(data, np.sort(order[count:])), rows_of(data, np.sort(order[:count]))


def rows_of(data: Data, rows: np.ndarray) -> Data:
    """The subset of the data with these rows."""
    part = {name: values[rows] for name in ("y", "qid", "sample_weight") if (values := getattr(data, name)) is not None}
    return replace(data, X=data.X[rows], **part)


def fit_with_progress(model: Any, data: Data, held: Data | None, visible: bool) -> Outcome:
    """Fit the model; if ``visible``, show a progress bar with the score on the validation rows ``held``."""
    from fenchel.driver.progress import progress_bar

    with progress_bar("training", visible, model.max_passes) as show:
        if visible:
            model.set_callbacks(_ShowProgress(show, held))
        outcome = training.fit(model, lambda: model.fit(data.X, data.y, data.sample_weight))
    model.set_callbacks()
    _keep_names(model, data)
    if getattr(model, "calibration", None) is not None and not hasattr(model, "calibration_"):
        model.set_params(calibration=None)
        warnings.warn("The run was interrupted before calibration: the model has no probabilities.", stacklevel=2)
    return outcome


def _keep_names(model: Any, data: Data) -> None:
    """Store the encoding of the table in the model, or the names of the columns of data that are not a table."""
    if data.encoding is not None:
        model.encoding_ = data.encoding
    if data.index_base is not None:
        model.index_base_ = data.index_base
    if data.encoding is None and data.feature_names is not None:
        model.feature_names_ = np.array(data.feature_names, dtype=object)


def names_of(model: Any) -> list[str] | None:
    """The names of the model's columns, or None if they are unknown."""
    if getattr(model, "encoding_", None) is not None:
        return list(model.encoding_.feature_names)
    found = getattr(model, "feature_names_", getattr(model, "feature_names_in_", None))
    return None if found is None else [str(name) for name in found]


class _ShowProgress:
    """A callback in scikit-learn's protocol that shows the progress of the run and the validation score."""

    def __init__(self, show: Any, held: Data | None) -> None:
        self.show, self.held, self.last, self.note = show, held, -math.inf, ""

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

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
    """The loss and penalty that were minimised, by option name."""
    options = {name: getattr(model, name) for name in ("loss", "penalty", "strength") if hasattr(model, name)}
    if options.get("penalty") == "elasticnet":
        options["l1_ratio"] = model.l1_ratio
    if options.get("penalty") == "lp":
        options["p"] = model.p
    return {name: value if isinstance(value, (int, float, str, type(None))) else repr(value) for name, value in options.items()}


def classes_of(model: Any) -> Any:
    """The classes, or None for regression."""
    return model.classes_ if is_classifier(model) else None
