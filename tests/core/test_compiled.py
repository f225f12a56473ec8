"""Compiled tuples in kernels, and the cache of machine code on disk."""

import functools
import json
import math
import os
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest
import scipy.sparse as sp

import fenchel as fl
from fenchel import compiled
from fenchel.core.compiled import JIT, kernel, numba_side, prefetch
from fenchel.problems.sums import sum_losses
from tests.data import data

ROOT = Path(__file__).parents[2]
PACKAGE = Path(fl.__file__).parent
needs_jit = pytest.mark.skipif(not JIT, reason="nothing is compiled under NUMBA_DISABLE_JIT")

OBJECTIVE = """
import numpy as np, fenchel as fl
problem = fl.Problem(np.eye(2), np.array([1.0, 2.0]), fl.Squared(), fl.L2(1.0))
print(problem.objective(np.zeros(2)))
"""


def run(code, path, cache, **environment):
    """The output of a new Python process with ``path`` first on its import path and ``cache`` as its kernel cache."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, [path, PACKAGE.parent])),
        "FENCHEL_CACHE": str(cache),
        **environment,
    }
    # No .pyc files: their staleness check has a resolution of one second, and these tests edit files faster than that.
    done = subprocess.run([sys.executable, "-B", "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def cached_code(cache):
    """The files of machine code in a cache directory, with modification times."""
    return {path: path.stat().st_mtime_ns for path in Path(cache).rglob("*.nbc")}


def mentions(cache, name):
    return any(name.encode() in path.read_bytes() for path in Path(cache).rglob("*") if path.is_file())


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def copied(tmp_path):
    """A copy of the package that tests can edit."""
    shutil.copytree(PACKAGE, tmp_path / "src" / "fenchel", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


# ---- the cache on disk ----


@pytest.mark.slow
@needs_jit
def test_the_cache_is_used_until_a_source_file_changes(copied, cache):
    assert run(OBJECTIVE, copied, cache) == "1.25"
    first = cached_code(cache)
    assert first

    assert run(OBJECTIVE, copied, cache) == "1.25"
    assert cached_code(cache) == first

    # Numba's own cache checks only the kernel's file, and the loss is in another one.
    edit(copied / "fenchel" / "losses" / "squared.py", "return 0.5 * (z - y) ** 2", "return (z - y) ** 2")
    assert run(OBJECTIVE, copied, cache) == "2.5"
    second = cached_code(cache)
    assert set(second) > set(first)

    assert run(OBJECTIVE, copied, cache) == "2.5"
    assert cached_code(cache) == second


@pytest.mark.slow
@needs_jit
def test_an_edit_between_import_and_first_use_does_not_store_old_code_under_the_new_hash(copied, cache):
    squared = copied / "fenchel" / "losses" / "squared.py"
    changing = f"""
import fenchel.losses
from pathlib import Path
path = Path({str(squared)!r})
path.write_text(path.read_text().replace("return 0.5 * (z - y) ** 2", "return (z - y) ** 2"))
{OBJECTIVE}"""
    run(changing, copied, cache)
    assert run(OBJECTIVE, copied, cache) == "2.5"


@needs_jit
def test_caches_of_old_versions_are_deleted(cache):
    for name, days in (("old", 40), ("recent", 20)):
        mark = cache / "kernels" / name / "used"
        mark.parent.mkdir(parents=True)
        mark.touch()
        os.utime(mark, (time.time() - 86400 * days,) * 2)
    (cache / "kernels" / "not-ours").mkdir()
    run("from fenchel.core.kernel_cache import cache_directory; cache_directory()", PACKAGE.parent, cache)
    left = {path.name for path in (cache / "kernels").iterdir()}
    assert {"recent", "not-ours"} < left
    assert "old" not in left


@needs_jit
def test_a_cache_that_is_not_writable_gives_one_warning(tmp_path):
    (tmp_path / "file").touch()
    code = """
import logging
warnings = []
handler = logging.Handler()
handler.emit = lambda record: warnings.append(record.getMessage())
logging.getLogger("fenchel").addHandler(handler)
import numpy as np, fenchel as fl
problem = fl.Problem(np.eye(2), np.array([1.0, 2.0]), fl.Squared(), fl.L2(1.0))
print(problem.objective(np.zeros(2)), problem.gap(np.zeros(2)) > 0.0, len(warnings), "FENCHEL_CACHE" in warnings[0])
"""
    assert run(code, PACKAGE.parent, tmp_path / "file" / "below") == "1.25 True 1 True"


# ---- classes from outside the package ----

USERS_LOSS = """
from typing import NamedTuple
from fenchel import compiled

@compiled
def scaled(x):
    return 1.0 * x

@compiled
class Homemade(NamedTuple):
    labels = "real"
    def value(self, z, y):
        return scaled((z - y) ** 2)
    def derivative(self, z, y):
        return scaled(2.0 * (z - y))
    def conjugate(self, u, y):
        return u * y + u * u / 4.0
    def dual_step(self, alpha, z, y, q):
        return (y - z + q * alpha) / (0.5 + q)
    def smoothness(self):
        return 2.0
"""
USING_IT = """
import numpy as np, fenchel as fl
from fenchel.losses.smoothed import Smoothed
from homemade import Homemade
for loss in (Homemade(), Smoothed(Homemade(), 1e-9)):
    problem = fl.Problem(np.eye(2), np.array([1.0, 2.0]), loss, fl.L2(1.0))
    print(round(problem.objective(np.zeros(2)), 6), end=" ")
fl.Problem(np.eye(2), np.array([1.0, 2.0]), fl.Squared(), fl.L2(1.0)).objective(np.zeros(2))
"""


@pytest.mark.slow
@needs_jit
def test_kernels_with_a_user_defined_loss_are_not_cached(tmp_path, cache):
    (tmp_path / "homemade.py").write_text(USERS_LOSS)
    assert run(USING_IT, tmp_path, cache) == "2.5 2.5"
    edit(tmp_path / "homemade.py", "return 1.0 * x", "return 2.0 * x")
    assert run(USING_IT, tmp_path, cache).startswith("5.0")
    assert not mentions(cache, "omemade")
    assert mentions(cache, "Squared")  # the package's own classes are stored by name, so the search would have found it


USERS_KERNEL = """
import numpy as np
from fenchel.core.compiled import kernel

@kernel
def homemade(x):
    return 1.0 * x.sum()

if __name__ == "homemade":
    print(homemade(np.ones(3)))
"""


@pytest.mark.slow
@needs_jit
def test_user_defined_kernels_are_not_cached(tmp_path, cache):
    (tmp_path / "homemade.py").write_text(USERS_KERNEL)
    assert run("import homemade", tmp_path, cache) == "3.0"
    edit(tmp_path / "homemade.py", "return 1.0", "return 2.0")
    assert run("import homemade", tmp_path, cache) == "6.0"


# ---- tuples in kernels ----


@compiled
def twice(x):
    return 2.0 * x


@compiled
class Fieldless(NamedTuple):
    labels = "real"

    def value(self, z, y):
        return twice(abs(z - y))


@compiled
class Weighted(NamedTuple):
    weight: float = 1.0
    inner: Fieldless = Fieldless()

    labels = "real"

    def check(self):
        if not self.weight > 0.0:
            raise ValueError("Weighted(weight=...): the weight must be positive.")

    def value(self, z, y):
        return self.weight * self.inner.value(z, y)


def total(loss):
    return sum_losses(loss, np.array([0.0, 3.0]), np.array([1.0, 1.0]), np.array([0.5, 0.5]))


def test_tuples_without_fields_and_tuples_in_tuples_run_in_kernels():
    assert total(Fieldless()) == 3.0
    assert total(Weighted(2.0)) == 6.0


def test_compiled_functions_are_callable_from_python_and_from_kernels():
    @kernel
    def through_a_kernel(x):
        return twice(x) + 1.0

    assert twice(2.0) == 4.0
    assert through_a_kernel(2.0) == 5.0


@needs_jit
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("shape", [(5,), (0,), (2, 3)])
def test_prefetch_is_an_instruction_that_changes_nothing(dtype, shape):
    if len(shape) == 1:

        def fetch(array, i):
            prefetch(array, i)
            return i
    else:

        def fetch(array, i):
            prefetch(array, i, 1)
            return i

    numba_side().prepare_to_compile()
    array = np.arange(math.prod(shape), dtype=dtype).reshape(shape)
    before, in_kernel = array.copy(), numba.njit(fetch)
    assert fetch(array, 1) == in_kernel(array, 1) == 1
    assert np.array_equal(array, before)
    assert "call void @llvm.prefetch" in next(iter(in_kernel.inspect_llvm().values()))


def test_parameters_are_not_compiled_into_kernels():
    assert [total(Weighted(weight)) for weight in (1.0, 2.0, 0.5)] == [3.0, 6.0, 1.5]


@pytest.mark.slow
@needs_jit
def test_integer_parameters_do_not_cause_recompilation(cache):
    code = f"""
import numpy as np, fenchel as fl
from pathlib import Path
def files(loss, regularizer):
    problem = fl.Problem(np.eye(2), np.array([1.0, 2.0]), loss, regularizer)
    problem.objective(np.zeros(2)), problem.gap(np.ones(2))
    return len(list(Path({str(cache)!r}).rglob("*.nbc")))
real = files(fl.Huber(1.0), fl.Box(0.0, 1.0, fl.L1L2(2.0, 1.0)))
print(real > 3, files(fl.Huber(2), fl.Box(0, 1, fl.L1L2(3, 1))) == real)
"""
    assert run(code, PACKAGE.parent, cache) == "True True"


def test_classes_that_are_not_named_tuples_are_refused():
    class Ordinary:
        pass

    with pytest.raises(TypeError, match=r"Ordinary is not a NamedTuple: write `class Ordinary\(NamedTuple\):`\."):
        compiled(Ordinary)


def test_checks_run_for_every_way_of_construction():
    for make in (lambda: Weighted(-1.0), lambda: Weighted()._replace(weight=0), lambda: Weighted._make([-2, Fieldless()])):
        with pytest.raises(ValueError, match="must be positive"):
            make()
    with pytest.raises(TypeError, match=r"Weighted\(weight=\.\.\.\) must be a number, not 'heavy'"):
        Weighted("heavy")


def test_objects_of_a_user_defined_class_can_be_pickled():
    assert pickle.loads(pickle.dumps(Weighted(3))) == Weighted(3.0)


def homemade(factor):
    @fl.compiled
    class Homemade(NamedTuple):
        def value(self, z, y):
            return factor * (z - y) ** 2

        def derivative(self, z, y):
            return 2.0 * factor * (z - y)

    return Homemade()


def test_a_redefined_loss_of_the_same_name_is_recompiled():
    X, y = data("real")
    objectives = [fl.Problem(X, y, homemade(factor), fl.L2(0.1)).objective(np.zeros(6)) for factor in (7.0, 9.0)]
    assert objectives[1] == pytest.approx(objectives[0] * 9 / 7)


# ---- without compilation ----


@functools.cache
def small_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((14, 5)) * (rng.uniform(size=(14, 5)) < 0.7)
    X[3] = 0.0
    return X, X @ rng.standard_normal(5) + 0.1 * rng.standard_normal(14)


def small_problems():
    X, target = small_data()
    dense, csr = X, sp.csr_array(X)
    sign, cls = np.where(target > 0.0, 1.0, -1.0), np.digitize(target, [-0.5, 0.5])
    yield "squared l2", fl.Problem(dense, target, fl.Squared(), fl.L2(0.1))
    yield "logistic elastic-net", fl.Problem(csr, sign, fl.Logistic(), fl.L1L2(l1=0.01, l2=0.05), intercept=1.0)
    yield "huber box", fl.Problem(csr, target, fl.Huber(0.5), fl.Box(-0.3, 0.6, fl.L2(0.1)))
    yield "hinge squared-lp", fl.Problem(csr, sign, fl.Hinge(), fl.SquaredLp(0.1, 1.5))
    yield "squared squared-lp", fl.Problem(dense, target, fl.Squared(), fl.SquaredLp(0.1, 1.2, radius=0.5))
    yield "smooth-hinge entropy", fl.Problem(dense, sign, fl.SmoothHinge(0.5), fl.Entropy(0.1, radius=2.0))
    yield "multiclass-hinge l2", fl.Problem(csr, cls, fl.MulticlassHinge(), fl.L2(0.1))
    yield "softmax elastic-net", fl.Problem(dense, cls, fl.Softmax(), fl.L1L2(l1=0.01, l2=0.05))


def numbers():
    """The results of a few passes on tiny data; floats survive JSON exactly."""
    found = {}
    for name, problem in small_problems():
        w = 0.1 * np.cos(np.arange(math.prod(problem.shape))).reshape(problem.shape)
        w = np.clip(w, -0.3, 0.6) if "box" in name else w
        values = [problem.objective(w), problem.gap(w), problem.dual_objective(problem.dual_point(w))]
        values += fl.minimize(problem, "sdca", tol=1e-14, max_passes=3).w.ravel().tolist()
        if problem.regularizer.separable and math.isfinite(problem.loss.smoothness()):
            values += fl.minimize(problem, "fista", tol=1e-14, max_passes=3).w.ravel().tolist()
        found[name] = values
    return found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.slow
@needs_jit
def test_plain_python_and_compiled_kernels_agree(cache):
    code = "import json; from tests.core.test_compiled import numbers; print(json.dumps(numbers()))"
    plain = json.loads(run(code, ROOT, cache, NUMBA_DISABLE_JIT="1"))
    fast = numbers()
    assert plain.keys() == fast.keys()
    for name in fast:
        assert np.isfinite(fast[name]).all()
        assert plain[name] == pytest.approx(fast[name], rel=1e-11, abs=1e-12), name
    assert cached_code(cache) == {}
