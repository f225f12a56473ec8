"""Threads: BLAS has one thread for the whole of the outermost call, jobs that have jobs of their own end, and small work is not divided."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

import fenchel as fl
from fenchel import driver
from fenchel.core import threads
from fenchel.core.threads import in_parallel, one_thread, run_tasks
from fenchel.linalg import design

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((60, 4)), RNG.integers(0, 3, 60)
OUTERMOST = {
    "minimize": lambda: fl.minimize(fl.Problem(X, np.sign(X[:, 0]), fl.Logistic(), fl.L2(0.1)), threads=2),
    "path": lambda: fl.path(X, X[:, 0] + X[:, 1], fl.Squared(), n_strengths=3, cv=2, threads=2),
    "one-vs-rest": lambda: fl.LinearClassifier("squared-hinge", multiclass="one-vs-rest", n_jobs=2).fit(X, Y),
    "LassoCV": lambda: fl.LassoCV(alphas=3, cv=2, n_jobs=2).fit(X, X[:, 0]),
    "LogisticRegressionCV": lambda: fl.LogisticRegressionCV(Cs=2, cv=2, n_jobs=2).fit(X, Y),
}


class Recorded:
    """Stands for threadpoolctl's controller of a BLAS of four threads, and records when their number is changed."""

    def __init__(self):
        self.threads, self.changes = 4, []

    def get_num_threads(self):
        return self.threads

    def set_num_threads(self, threads):
        self.threads = threads
        self.changes.append(threads)


@pytest.fixture
def recorded(monkeypatch):
    controller = Recorded()
    monkeypatch.setattr(threads, "_blas", lambda: [controller])
    return controller


@pytest.mark.parametrize("name", OUTERMOST)
def test_blas_is_limited_once_for_the_whole_of_the_outermost_call(name, recorded, monkeypatch):
    monkeypatch.setattr(design, "PROBLEMS_IN_PARALLEL_FROM", 0)
    OUTERMOST[name]()
    assert recorded.changes == [1, 4]


def test_the_limit_is_lifted_when_the_last_thread_leaves(recorded):
    entered, leave = threading.Event(), threading.Event()

    def other():
        with one_thread:
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with one_thread:
        thread.start()
        assert entered.wait(10)
    assert recorded.changes == [1]
    leave.set()
    thread.join(10)
    assert recorded.changes == [1, 4]


def test_an_error_lifts_the_limit(recorded):
    with pytest.raises(fl.InputError):
        fl.minimize(fl.Problem(X, np.sign(X[:, 0]), fl.Logistic(), fl.L2(0.1)), "no-such-solver")
    assert recorded.changes == [1, 4]


def test_jobs_that_have_jobs_of_their_own_end():
    done = []

    def nested(depth):
        if depth:
            in_parallel([(nested, depth - 1)] * 4)
        else:
            done.append(threading.get_ident())

    runner = threading.Thread(target=nested, args=(4,), daemon=True)
    runner.start()
    runner.join(60)
    assert len(done) == 4**4


def test_no_more_jobs_run_at_once_than_threads_are_allowed():
    running, most, lock = [], [], threading.Lock()

    def job(k):
        with lock:
            running.append(k)
            most.append(len(running))
        threading.Event().wait(0.002)
        running.remove(k)

    in_parallel([(job, k) for k in range(9)], 2)
    assert len(most) == 9
    assert max(most) <= 2


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_in_a_job_is_raised_after_the_jobs_that_have_begun(failing):
    begun, ended = [], []

    def job(k):
        begun.append(k)
        threading.Event().wait(0.01)
        ended.append(k)
        if k == failing:
            raise ValueError(k)

    with pytest.raises(ValueError, match=str(failing)):
        in_parallel([(job, k) for k in range(3)])
    assert sorted(begun) == sorted(ended)


@pytest.mark.skipif(not hasattr(threads.os, "fork"), reason="there is no fork on this system")
def test_a_forked_child_has_threads_of_its_own():
    code = """
import os, warnings
from fenchel.core.threads import in_parallel, one_thread
warnings.simplefilter("ignore")
jobs = [(lambda: None,)] * 3
in_parallel(jobs)
with one_thread.lock:  # as if another thread held it
    child = os.fork()
    if child == 0:
        with one_thread:
            in_parallel(jobs)
        os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "7", run.stderr


def test_an_error_in_a_task_stops_the_others():
    stop = threading.Event()

    def fails():
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        run_tasks([lambda: stop.wait(60), fails, lambda: stop.wait(60)], 2, stop)
    assert stop.is_set()


@pytest.mark.parametrize("entries", [100, 10**9])
def test_only_large_problems_are_solved_in_parallel(entries, monkeypatch):
    monkeypatch.setattr(design, "PROBLEMS_IN_PARALLEL_FROM", entries)
    seen = set()
    loss = fl.SquaredHinge()
    with monkeypatch.context() as patch:
        solve = driver.solve
        patch.setattr(driver, "solve", lambda *a, **k: (seen.add(threading.get_ident()), solve(*a, **k))[1])
        fl.LinearClassifier(loss, multiclass="one-vs-rest", n_jobs=3).fit(X, Y)
    assert (seen == {threading.get_ident()}) == (entries > X.size)
