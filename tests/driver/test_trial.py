"""A trial of dual ascent before the solver that was chosen: it goes on while its gap falls fast enough, and nothing it found is lost"""

import numpy as np
import pytest

import fenchel as fl
from fenchel.driver.choice import choose, trial_for
from fenchel.driver.trial import MOST_PASSES, is_promising, with_trial
from fenchel.problems.result import History, Iterate


def rows(m, n, correlated=False):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    if correlated:
        X = X @ np.diag(10.0 ** np.linspace(-2, 2, n)) + 5.0
    return X, np.where(X @ rng.standard_normal(n) + rng.standard_normal(m) > 0.0, 1.0, -1.0)


def course(*gaps):
    history = History()
    for passes, gap in enumerate(gaps):
        history.append(passes=passes, accesses=0, seconds=0.0, objective=gap, dual_objective=0.0, gap=gap, nnz=0)
    return history


def test_a_trial_that_converges_fast_is_the_solver_of_the_result():
    X, y = rows(200, 5)
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(1.0))
    assert choose(problem)[0] == "interior-point"
    result = fl.minimize(problem)
    assert result.solver == "sdca"
    assert result.converged
    assert result.passes < MOST_PASSES


def test_a_trial_that_is_slow_hands_over_and_passes_add_up():
    X, y = rows(300, 8, correlated=True)
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(1e-6))
    result, alone = fl.minimize(problem, tol=1e-6), fl.minimize(problem, "interior-point", tol=1e-6)
    assert result.solver == "interior-point"
    assert result.converged
    assert result.history["passes"][1] == 1.0, "that of the trial counts"
    assert (np.diff(result.history["passes"]) > 0).all()
    assert result.objective == pytest.approx(alone.objective, abs=2 * result.target)


def test_a_result_can_be_continued_whichever_solver_it_ended_with():
    X, y = rows(300, 8, correlated=True)
    problem = fl.Problem(X, y, fl.Hinge(), fl.L2(1e-6))
    for passes in (1, 2, 20):
        with pytest.warns(match="max_passes"):
            begun = fl.minimize(problem, tol=1e-6, max_passes=passes)
        assert fl.minimize(problem, tol=1e-6, start=begun).converged


@pytest.mark.parametrize("regularizer", [fl.L1(0.1), fl.L1L2(l1=0.1, l2=0.1), fl.Box(0.0, 1.0, fl.L2(0.1))], ids=repr)
def test_other_penalties_than_ridge_have_no_trial(regularizer):
    X, y = rows(50, 5)
    assert trial_for(fl.Problem(X, y, fl.Hinge(), regularizer), "accelerated-sdca") is None


def test_a_gap_that_does_not_fall_ends_a_trial():
    assert is_promising(course(1.0), 1e-3)
    assert is_promising(course(1.0, 0.9), 1e-3), "the first pass tells nothing"
    assert not is_promising(course(1.0, 0.9, 0.9), 1e-3)
    assert not is_promising(course(1.0, 0.9, 0.89), 1e-3)
    assert is_promising(course(1.0, 0.9, 0.1), 1e-3)
    assert is_promising(course(1.0, 0.9, 1e-4), 1e-3), "it is done"


def test_the_solver_goes_on_where_the_trial_ended():
    def counting(start, count, status=None):
        for k in range(1, count + 1):
            yield Iterate(np.full(1, start + k), passes=float(k), accesses=10 * k)
        return status

    begun = []
    left = iter([True, False])

    def rest(last):
        begun.append(last.w[0])
        return counting(100.0, 2, "stalled")

    statuses = []

    def to_the_end():
        statuses.append((yield from with_trial(counting(0.0, 5), rest, lambda: next(left))))

    found = list(to_the_end())
    assert statuses == ["stalled"]
    assert begun == [2.0]
    assert [iterate.passes for iterate in found] == [1.0, 2.0, 3.0, 4.0]
    assert [iterate.accesses for iterate in found] == [10, 20, 30, 40]
