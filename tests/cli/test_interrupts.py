"""Interrupts: the best model so far is saved, and only one line is printed."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future

import numpy as np
import pytest

import fenchel as fl
from fenchel.cli import exits
from fenchel.linalg import design
from tests.cli.shell import fenchel


@pytest.mark.parametrize("options", [[], ["--calibration", "sigmoid"], ["--target", "colour", "--multiclass", "one-vs-rest"]])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_interrupt_saves_the_best_model_so_far(options, threads, at_home, tmp_path, monkeypatch):
    from fenchel.driver.run import Run

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
