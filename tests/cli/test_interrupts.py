"""Interrupts: the best model so far is saved, and only one line is printed."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import fenchel as fl
from fenchel.cli import exits
from fenchel.driver.run import Run
from fenchel.estimators.linear_estimator import LinearEstimator
from fenchel.linalg import design
from fenchel.persistence import model_files
from fenchel.problems.problem import Problem
from tests.cli.shell import fenchel


@pytest.mark.parametrize("options", [[], ["--calibration", "sigmoid"], ["--target", "colour", "--multiclass", "one-vs-rest"]])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_interrupt_saves_the_best_model_so_far(options, threads, at_home, tmp_path, monkeypatch):
    seen = []
    record = Run._record

    def interrupted(self, iterate, objective):
        seen.append(objective)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return record(self, iterate, objective)

    monkeypatch.setattr(Run, "_record", interrupted)
    words = ["train", "train.csv", "--model", tmp_path / "m.fenchel", "--solver", "fista", "--tol", "1e-12", "--threads", threads]
    result = fenchel(*words, *options, code=130)
    assert "Interrupted: the best model so far is in" in result.stderr
    monkeypatch.undo()
    model = fl.load(tmp_path / "m.fenchel")
    assert np.isfinite(model.coef_).all()
    assert len(fenchel("predict", tmp_path / "m.fenchel", at_home / "test.csv").stdout.split()) == 60


def test_an_interrupt_between_threads_saves_all_classes(at_home, tmp_path, monkeypatch):
    result, calls = Future.result, []

    def interrupted(self, timeout=None):
        calls.append(self)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return result(self, timeout)

    monkeypatch.setattr(design, "PROBLEMS_IN_PARALLEL_FROM", 0)
    monkeypatch.setattr(Future, "result", interrupted)
    words = ["--target", "colour", "--multiclass", "one-vs-rest", "--loss", "squared-hinge", "--threads", "2"]
    fenchel("train", "train.csv", "--model", tmp_path / "m.fenchel", *words, code=130)
    assert fl.load(tmp_path / "m.fenchel").coef_.shape == (3, 6)


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_the_best_model_so_far(sent, at_home, tmp_path):
    # A child of a background shell may have inherited an ignored SIGINT; the first line restores the handler.
    start = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from fenchel.cli import app; app(prog_name='fenchel')"
    words = ["train", "text.svm", "--model", str(tmp_path / "m.fenchel"), "--solver", "fista", "--tol", "0", "--max-passes", "1e12"]
    run = subprocess.Popen(
        [sys.executable, "-c", start, *words, "--progress"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FORCE_COLOR": "1"},
    )
    shown = ""
    while "objective" not in shown:  # the bar: training has begun
        shown += run.stderr.read(1)
    run.send_signal(sent)
    out, err = run.communicate(timeout=120)
    assert run.returncode == 130, err
    assert "the best model so far is in" in err
    assert "certificate" in out
    assert len(fl.load(tmp_path / "m.fenchel").history_) > 0


def test_an_interrupt_lost_in_a_callback_is_sent_again():
    @ctypes.CFUNCTYPE(None)
    def compiling():
        raise KeyboardInterrupt

    def work():
        compiling()
        for _ in range(1000):
            time.sleep(0.01)

    with exits.resend_lost_interrupts(), pytest.raises(KeyboardInterrupt):
        work()


def test_control_c_during_import_prints_one_line():
    # An ignored SIGINT may have been inherited.
    start = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        name == 'fenchel.problems.problem' and signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting()); import _fenchel; _fenchel.main()"
    )
    run = subprocess.run([sys.executable, "-c", start, "demo"], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "Interrupted.\n")


def interrupt_in(monkeypatch, owner, name, sent=signal.SIGINT):
    """Send this process a signal at the first call of a function."""
    plain, calls = getattr(owner, name), []

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 1:
            signal.raise_signal(sent)
        return plain(*arguments, **options)

    monkeypatch.setattr(owner, name, interrupted)
    return calls


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("place", [(LinearEstimator, "_keep"), (model_files, "model_digest"), (Run, "_verify_result"), (Run, "_result")])
def test_an_interrupt_after_the_last_step_does_not_lose_the_model(place, sent, at_home, tmp_path, monkeypatch):
    calls = interrupt_in(monkeypatch, *place, sent)
    result = fenchel("train", "train.csv", "--model", tmp_path / "m.fenchel", code=130)
    assert calls
    assert "Interrupted: the best model so far is in" in result.stderr
    assert fl.load(tmp_path / "m.fenchel").converged_


def test_an_interrupt_between_the_solvers_stops_the_next(at_home, tmp_path, monkeypatch):
    interrupt_in(monkeypatch, Problem, "with_labels")
    words = ["--target", "colour", "--multiclass", "one-vs-rest", "--solver", "fista", "--tol", "1e-4", "--threads", "1"]
    fenchel("train", "train.csv", "--model", tmp_path / "m.fenchel", *words, code=130)
    assert fl.load(tmp_path / "m.fenchel").coef_.shape == (3, 6)


def test_an_interrupt_before_training_ends_the_command(at_home, tmp_path, monkeypatch):
    interrupt_in(monkeypatch, LinearEstimator, "_problem")
    result = fenchel("train", "train.csv", "--model", tmp_path / "m.fenchel", code=130)
    assert result.stderr == "Interrupted.\n"
    assert not (tmp_path / "m.fenchel").exists()


@pytest.mark.parametrize(
    "words", [["demo", "--rows", "300"], ["inverse-time", "text.svm", "--accuracy", "0.8", "--sizes", "200", "--runs", "1"]]
)
def test_an_interrupt_ends_a_command_that_runs_several_solvers(words, at_home, monkeypatch):
    calls = interrupt_in(monkeypatch, Run, "_record")
    assert fenchel(*words, code=130).stderr == "Interrupted.\n"
    assert len(calls) == 1


def test_a_full_disk_is_reported_with_the_name_of_the_model(at_home, tmp_path, monkeypatch):
    def full(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    result = fenchel("train", "train.csv", "--model", tmp_path / "m.fenchel", "--quiet", code=2)
    assert result.stderr == f"Error: {tmp_path / 'm.fenchel'}: No space left on device.\n"
    assert not list(tmp_path.iterdir())


def test_an_interrupt_while_a_kernel_is_loaded_waits_until_it_is(monkeypatch):
    def load():
        signal.raise_signal(signal.SIGINT)
        return "loaded"

    monkeypatch.setattr(Dispatcher, "_compile_for_args", load)
    monkeypatch.setattr(Run, "until_done", lambda: Dispatcher._compile_for_args())
    with exits.interrupts_keep_the_model() as postponed:
        monkeypatch.setattr(Run, "begun", Run.begun + 1)
        assert Run.until_done() == "loaded"
    assert postponed.came
