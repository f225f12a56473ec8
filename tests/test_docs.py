"""The examples in the documentation run, and the README has the two commands that .ci/run uses."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import fenchel as fl

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/guide.md",
        "docs/scikit-learn.md",
        "docs/certificates.md",
        "docs/large-data.md",
        pytest.param("docs/structured.md", marks=pytest.mark.slow),
    ],
)
def test_the_examples_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    if page == "docs/large-data.md":  # whose store is made in the shell
        monkeypatch.chdir(tmp_path)
        fl.datasets.write_svmlight("train.svm", *fl.datasets.make_text(300, n=100, nonzeros=10, seed=0))
        fl.datasets.convert("train.svm", "train.store", shuffle=True)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    names: dict[str, object] = {"__name__": f"examples of {page}"}
    sys.modules[str(names["__name__"])] = sys  # NamedTuple needs its module
    for block in blocks:
        exec(compile(block, page, "exec", dont_inherit=True), names)
    if page == "README.md":
        assert names["result"].converged


@pytest.mark.parametrize("name", ["demo", "test"])
def test_the_readme_marks_the_commands_for_demo_and_tests(name):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.search(rf"<!-- {name} -->\n```bash\n(.+)\n```", text)
    assert command
    assert command.group(1).startswith("python3 -m venv .venv && ")


def test_the_demo_prints_a_certificate():
    done = subprocess.run([sys.executable, "-m", "fenchel", "demo", "--rows", "500"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for word in ("objective", "bound", "gap", "accuracy", "What the certificate means"):
        assert word in done.stdout


def test_the_command_line_refuses_bad_options_without_a_traceback():
    done = subprocess.run([sys.executable, "-m", "fenchel", "demo", "--rows", "-3"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
