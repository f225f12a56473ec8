"""Output: nothing into a closed pipe, nothing with --quiet, and no colours with NO_COLOR."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

from fenchel.cli import exits
from tests.cli.shell import fenchel

LONGER = [pytest.param(words, marks=pytest.mark.slow) for words in ("datasets list --json", "predict text.fenchel train.svm")]


@pytest.mark.parametrize("words", ["datasets list", *LONGER])
def test_a_closed_pipe_prints_no_error(words, at_home):
    command = f"set -o pipefail; {shlex.quote(sys.executable)} -m fenchel {words} | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", exits.BROKEN_PIPE)


def test_quiet_prints_nothing_and_no_color_is_respected(at_home, tmp_path):
    result = fenchel("train", "train.svm", "--model", tmp_path / "m.fenchel", "--quiet")
    assert result.output == ""
    done = subprocess.run(
        [sys.executable, "-m", "fenchel", "info", "train.svm"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert "\x1b" not in done.stdout
