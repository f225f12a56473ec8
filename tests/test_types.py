"""What type checkers see of the package: a script that a user might write, and mistakes in it that they report."""

from __future__ import annotations

from typing import get_args

import pytest

from fenchel.solvers import solvers
from fenchel.solvers.names import SolverName

SCRIPT = """
from typing import Any, NamedTuple, assert_type

import numpy as np
import scipy.sparse as sp

import fenchel as fl

rng = np.random.default_rng(0)
X, y = rng.standard_normal((20, 3)), np.sign(rng.standard_normal(20))

assert_type(fl.LogisticRegression(C=2.0).fit(X, y), fl.LogisticRegression)
assert_type(fl.LinearSVC().fit(sp.csr_array(X), y), fl.LinearSVC)
assert_type(fl.Lasso(alpha=0.1).fit(X.tolist(), y.tolist()), fl.Lasso)
assert_type(fl.Ridge().fit(X, y).predict(X), np.ndarray)
assert_type(fl.Tagger().fit([["a"]], [["A"]]), fl.Tagger)

problem = fl.Problem(X, y, fl.Logistic(), fl.L2(0.1), sample_weight=np.ones(20))
result = fl.minimize(problem, "sdca", tol=1e-6, callback=lambda evaluation: evaluation.gap < 1e-9)
assert_type(result, fl.Result)
assert_type(result.gap, float)
assert_type(result.w, np.ndarray)
assert_type(result.converged, bool)
for solver in fl.solvers.solvers().values():
    fl.minimize(problem, solver.name)


@fl.compiled
class Own(NamedTuple):
    scale: float = 1.0

    def value(self, z: Any, y: Any) -> Any:
        return self.scale * (z - y) ** 2

    def derivative(self, z: Any, y: Any) -> Any:
        return 2.0 * self.scale * (z - y)


fl.minimize(fl.Problem(X, y, Own(), fl.L1L2(l1=0.1, l2=0.1)), start=result)
stream = fl.Stream([(X, y)], fl.Hinge(), fl.L2(0.1))
assert_type(fl.minimize(stream, "pgs").objective, float)
assert_type(fl.path(X, y, fl.Squared()), fl.Path)
model = fl.load("model.fenchel")
if isinstance(model, fl.LogisticRegression):
    model.predict_proba(X)
"""

MISTAKES = {
    'fl.minimize(problem, "sdac")': "arg-type",
    "fl.Problem(X, y, 3.0, fl.L2(0.1))": "arg-type",
    "fl.Problem(X, y, fl.Logistic(), 0.1)": "arg-type",
    "fl.Lasso(alfa=1.0)": "call-arg",
    "fl.minimize(problem, toll=1e-6).gapp": "attr-defined",
    "fl.L2(l3=1.0)": "call-arg",
}


def check(folder, script):
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    path = folder / "script.py"
    path.write_text(script)
    options = ["--strict", "--no-error-summary", "--cache-dir", str(folder / "cache"), "--allow-untyped-decorators"]
    output, errors, _ = api.run([*options, str(path)])
    assert errors == ""
    return output


@pytest.mark.slow
def test_a_users_script_has_types_and_its_mistakes_are_found(tmp_path):
    assert check(tmp_path, SCRIPT) == ""
    lines = SCRIPT.splitlines()
    output = check(tmp_path, "\n".join([*lines, *MISTAKES]))
    for number, (mistake, kind) in enumerate(MISTAKES.items(), len(lines) + 1):
        assert any(f"script.py:{number}: error:" in line and f"[{kind}]" in line for line in output.splitlines()), mistake


def test_the_names_of_solvers_are_those_of_the_registry():
    assert set(get_args(SolverName)) == {"auto", *solvers()}
