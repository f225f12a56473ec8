"""Wheels with machine code: what they contain, and that nothing compiles where they are installed."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from fenchel import build_kernels
from fenchel.core.compiled import JIT
from fenchel.core.cpu_levels import levels_of_host
from fenchel.core.kernel_archive import SHIPPED

ROOT = Path(__file__).parents[1]
WHEEL = {
    "fenchel/__init__.py": b"",
    "fenchel/core/compiled.py": b"import numba\n",
    "fenchel-1.2.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "fenchel-1.2.dist-info/METADATA": b"Name: fenchel\n",
    "fenchel-1.2.dist-info/RECORD": b"",
}


@pytest.fixture
def pure(tmp_path):
    """A wheel of a small package."""
    path = tmp_path / "fenchel-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in WHEEL.items():
            archive.writestr(name, content)
    return path


def test_a_wheel_with_kernels_names_its_platform_and_lists_its_files(pure, tmp_path):
    kernels = tmp_path / "x86-64-v3.kernels"
    kernels.write_bytes(b"machine code" * 100)
    made = build_kernels.with_kernels(pure, [kernels], tmp_path / "dist")
    python, platform = f"cp{sys.version_info.major}{sys.version_info.minor}", build_kernels.platform_tag()
    assert made.name == f"fenchel-1.2-{python}-{python}-{platform}.whl"
    with zipfile.ZipFile(made) as archive:
        assert archive.testzip() is None
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert contents[f"fenchel/{SHIPPED}/{kernels.name}"] == kernels.read_bytes()
    assert {name: contents[name] for name in ("fenchel/__init__.py", "fenchel/core/compiled.py")} == {
        name: WHEEL[name] for name in ("fenchel/__init__.py", "fenchel/core/compiled.py")
    }
    wheel = contents["fenchel-1.2.dist-info/WHEEL"].decode().splitlines()
    assert "Root-Is-Purelib: false" in wheel
    assert [line for line in wheel if line.startswith("Tag:")] == [f"Tag: {python}-{python}-{platform}"]
    record = dict(line.split(",", 1) for line in contents.pop("fenchel-1.2.dist-info/RECORD").decode().splitlines())
    assert record.pop("fenchel-1.2.dist-info/RECORD") == ","
    for name, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert record.pop(name) == f"sha256={digest},{len(content)}"
    assert not record


def test_kernels_are_not_put_into_a_wheel_of_other_sources(pure, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["build_kernels", str(pure)])
    monkeypatch.setattr(build_kernels, "built", lambda *given: pytest.fail("kernels were compiled"))
    monkeypatch.setattr(build_kernels, "levels_of_host", lambda: ["x86-64-v3"])
    with pytest.raises(SystemExit):
        build_kernels.main()
    assert "has other sources" in capsys.readouterr().err


# ---- the whole: a wheel of this package in an environment of its own ----

COUNT = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
from numba.core import event
found = {{}}
class Listener(event.Listener):
    def on_start(self, event): found.setdefault(now, []).append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event): pass
event.register("numba:compile", Listener())
{data}
import fenchel as fl
assert {path!r} in fl.__file__, fl.__file__
{files}
for now, call in json.loads({calls!r}).items():
    exec(call)
print(json.dumps(found), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The Python of an environment with a wheel of the kernels of common calls; what else it needs is found where these tests run."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "fenchel.build_kernels", str(ROOT), "--common", "--level", levels_of_host()[0], "--out", str(folder)]
    subprocess.run(build, check=True, capture_output=True, timeout=1500)
    (wheel,) = folder.glob("*.whl")
    assert wheel.stat().st_size < 40e6
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    found = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True, check=True
    )
    (Path(found.stdout.strip()) / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def cold_start():
    """The benchmark of first calls, which has the calls and their data."""
    specification = importlib.util.spec_from_file_location("cold_start", ROOT / "benchmarks" / "cold_start.py")
    module = importlib.util.module_from_spec(specification)
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        specification.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return module


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="nothing is compiled under NUMBA_DISABLE_JIT")
@pytest.mark.skipif(not levels_of_host(), reason="machine code is not built for this kind of processor")
@pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="the benchmarks are not here")
def test_nothing_compiles_where_a_wheel_with_kernels_is_installed(installed, tmp_path):
    benchmark = cold_start()
    calls = {name: call for name, (_, call) in benchmark.calls().items()}
    path = str(installed.parents[1])
    code = COUNT.format(data=benchmark.DATA, files=benchmark.FILES, calls=json.dumps(calls), path=path)
    environment = {**os.environ, "FENCHEL_CACHE": str(tmp_path)}
    done = subprocess.run([installed, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stderr.splitlines()[-1]) == {}
    assert not list(tmp_path.rglob("*.nbc"))
