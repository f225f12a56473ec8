"""Kernels are recorded while calls run, and compiled again from the types of their arguments alone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import fenchel as fl
from fenchel.core import kernel_archive, kernel_cache
from fenchel.core.compiled import JIT
from fenchel.core.kernel_archive import KernelArchive
from fenchel.warmup import compilation
from fenchel.warmup.typical_calls import Call

pytestmark = [
    pytest.mark.skipif(not JIT, reason="nothing is compiled under NUMBA_DISABLE_JIT"),
    pytest.mark.skipif(not kernel_cache.source_hash(), reason="a source file was edited"),
]


@pytest.fixture
def kernels(monkeypatch):
    """Those that a fit of a ridge regression uses."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    monkeypatch.setattr(compilation, "all_calls", lambda: [Call("Ridge", True, lambda: fl.Ridge().fit(X, y))])
    return compilation._recorded_here(common=True)


def test_what_is_compiled_from_recorded_types_is_what_a_fit_loads(kernels, tmp_path, monkeypatch):
    assert {kernel.name for kernel in kernels} >= {"sum_penalty", "losses_in_range"}
    made = dict(filter(None, map(compilation._compiled_here, kernels)))
    assert len(made) == len(kernels)

    monkeypatch.setattr(kernel_archive, "levels_of_host", lambda: ["some level"])
    path = compilation.write(tmp_path, "some level", made)
    assert path.parent == tmp_path
    archive = KernelArchive.for_this_computer(tmp_path, kernel_cache.source_hash())
    for kernel in kernels:
        function = getattr(__import__(kernel.module, fromlist=["_"]), kernel.name)
        stored = function.dispatcher(())._cache
        assert archive.load(stored.name, (pickle.loads(kernel.types), stored.code)) is not None


def test_warnings_of_calls_are_not_shown(recwarn):
    import warnings

    compilation.run([Call("warns", True, lambda: warnings.warn("not converged", stacklevel=1))])
    assert not recwarn.list
