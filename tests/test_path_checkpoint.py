"""Checkpoints of paths: an interrupted path goes on with the strengths that are missing, and its result is that of a whole one."""

from __future__ import annotations

import numpy as np
import pytest

import fenchel as fl
from fenchel import path_checkpoint as module
from fenchel.core.errors import InputError
from tests.data import data


@pytest.fixture
def rows():
    return data("real")


@pytest.mark.parametrize("loss", [fl.Squared(), fl.Huber()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("intercept", [0.0, "free"])
def test_a_path_goes_on_with_the_missing_strengths(rows, loss, intercept, tmp_path, monkeypatch):
    X, y = rows
    options = {"n_strengths": 12, "ratio": 1e-2, "tol": 1e-5, "intercept": intercept}
    whole = fl.path(X, y, loss, **options)
    save, saved = module._save, []

    def interrupted(path, data, request, found):
        save(path, data, request, found)
        saved.append(len(found))
        if len(saved) == 5:
            raise ZeroDivisionError

    monkeypatch.setattr(module, "_save", interrupted)
    with fl.checkpoints(tmp_path, seconds=0.0), pytest.raises(ZeroDivisionError):
        fl.path(X, y, loss, **options)
    with fl.checkpoints(tmp_path, seconds=0.0):
        found = fl.path(X, y, loss, **options)
    assert saved == list(range(1, 13))
    assert found["converged"].all()
    np.testing.assert_allclose(found["objective"], whole["objective"], rtol=1e-4)
    np.testing.assert_allclose(found.intercepts, whole.intercepts, atol=1e-2)
    with fl.checkpoints(tmp_path, seconds=0.0):
        again = fl.path(X, y, loss, **options)
    np.testing.assert_array_equal(again.coefs.toarray(), found.coefs.toarray())
    np.testing.assert_array_equal(again["gap"], found["gap"])
    assert len(saved) == 12


def test_folds_have_checkpoints_of_their_own(rows, tmp_path):
    X, y = rows
    with fl.checkpoints(tmp_path, seconds=0.0):
        first = fl.path(X, y, fl.Huber(), n_strengths=4, cv=3)
        files = sorted(path.name for path in tmp_path.glob("*.path"))
        second = fl.path(X, y, fl.Huber(), n_strengths=4, cv=3)
    assert files
    assert sorted(path.name for path in tmp_path.glob("*.path")) == files
    np.testing.assert_allclose(first["validation_loss"], second["validation_loss"], rtol=1e-9)


def test_damage_is_reported(rows, tmp_path):
    X, y = rows
    with fl.checkpoints(tmp_path, seconds=0.0):
        fl.path(X, y, fl.Squared(), n_strengths=4)
        (file,) = tmp_path.glob("*.path")
        file.write_bytes(file.read_bytes()[:-3])
        with pytest.raises(InputError, match=r"\.path is no checkpoint, or is damaged"):
            fl.path(X, y, fl.Squared(), n_strengths=4)


def test_outside_of_the_context_nothing_is_written(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fl.path(*rows, fl.Squared(), n_strengths=3)
    assert not list(tmp_path.iterdir())
