"""The layout: imports follow the layers, names are unique, ``dir`` lists the public names, and tests mirror the package."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import fenchel

ROOT = Path(fenchel.__file__).parent
TESTS = Path(__file__).parent

# Tests that belong to no single package or module: contract tests over registries, scikit-learn's own tests, the campaign, and these.
OTHER_FOLDERS = {"campaign", "contracts", "estimators/sklearn_own"}
OTHER_FILES = {"test_docs.py", "test_layout.py", "test_types.py"}

# A unit imports only from units listed before it; imports inside functions count too.
LAYERS = (
    "core",
    "linalg",
    "datasets",
    "plots",
    "losses",
    "regularizers",
    "problems",
    "structured",
    "solvers",
    "driver",
    "path_checkpoint",
    "paths",
    "theory",
    "verification",
    "estimators",
    "persistence",
    "experiments",
    "warmup",
    "build_kernels",
    "__init__",
    "cli",
    "__main__",
)

# Names that several modules share because they hold the same idea: a command and the function it runs, or the same part of several models.
SAME_IDEA = {"datasets", "demo", "warmup", "inverse_time", "examples", "features", "model", "problem"}

PUBLIC = (
    "fenchel",
    "fenchel.datasets",
    "fenchel.driver",
    "fenchel.estimators",
    "fenchel.losses",
    "fenchel.paths",
    "fenchel.persistence",
    "fenchel.plots",
    "fenchel.regularizers",
    "fenchel.solvers",
    "fenchel.structured",
    "fenchel.theory",
    "fenchel.verification",
)


def modules(root: Path) -> dict[str, Path]:
    """The file of every module of the package at ``root``, by dotted name; of a package that imports lazily, its list of names."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = ("fenchel", *path.relative_to(root).with_suffix("").parts)
        stub = path.with_suffix(".pyi")
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = stub if stub.exists() else path
    return found


def imported(tree: ast.AST, known: dict[str, Path], package: str) -> Iterator[tuple[str, int]]:
    """The modules of the package that a tree imports, by statement or by ``import_module``, with the line.

    Relative imports are from ``package``.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            origin = ".".join(filter(None, (package if node.level else "", node.module)))
            for alias in node.names if origin.partition(".")[0] == "fenchel" else ():
                full = f"{origin}.{alias.name}"
                yield full if full in known else origin, node.lineno
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name.partition(".")[0] == "fenchel")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from ((part.value, node.lineno) for part in node.args if isinstance(part, ast.Constant) and part.value in known)


def unit(name: str) -> str:
    return name.split(".")[1] if "." in name else "__init__"


def without_type_checking(tree: ast.AST) -> ast.AST:
    """The tree without imports for type checkers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = [ast.Pass()]
    return tree


def violations(root: Path) -> list[str]:
    """A message for every import from a later layer and for every import cycle."""
    known = modules(root)
    wrong, edges = [], defaultdict(set)
    for name, path in known.items():
        for target, line in imported(without_type_checking(ast.parse(path.read_text())), known, name):
            here, there = unit(name), unit(target)
            edges[name].add(target)
            if here != there and LAYERS.index(there) >= LAYERS.index(here):
                wrong.append(f"{name}:{line} imports {target}: {there} is not below {here}")
    return wrong + [
        f"{name} and {target} import each other" for name in edges for target in edges[name] if name in reachable(edges, target)
    ]


def reachable(edges: dict[str, set[str]], start: str) -> set[str]:
    found, stack = set(), [start]
    while stack:
        for other in edges.get(stack.pop(), ()):
            if other not in found:
                found.add(other)
                stack.append(other)
    return found


def test_imports_follow_the_layers():
    assert violations(ROOT) == []


def test_every_unit_has_a_layer():
    assert {unit(name) for name in modules(ROOT)} == set(LAYERS)


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("core/numeric.py", "from fenchel.losses import Hinge", "losses is not below core"),
        ("problems/problem.py", "def f():\n    from fenchel.solvers import solvers", "solvers is not below problems"),
        ("solvers/sdca.py", "import fenchel.estimators", "estimators is not below solvers"),
        ("driver/run.py", "import importlib\nimportlib.import_module('fenchel.cli')", "cli is not below driver"),
        ("losses/hinge.py", "from fenchel import minimize", "__init__ is not below losses"),
        ("core/threads.py", "def f():\n    from fenchel.core.compiled import kernel", "import each other"),
    ],
)
def test_imports_from_later_layers_are_detected(tmp_path, file, text, complaint):
    for name, planted in {file: text, "core/compiled.py": "from fenchel.core.threads import in_parallel"}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(planted)
    for target in ("losses", "solvers", "estimators", "cli", "core"):
        (tmp_path / target).mkdir(exist_ok=True)
        (tmp_path / target / "__init__.py").touch()
    (tmp_path / "__init__.py").touch()
    assert any(complaint in line for line in violations(tmp_path))


def test_no_two_modules_share_a_name():
    by_name = defaultdict(list)
    for name, path in modules(ROOT).items():
        if path.stem != "__init__" or name.count(".") == 1:
            by_name[name.rpartition(".")[2]].append(name)
    assert {name: where for name, where in by_name.items() if len(where) > 1 and name not in SAME_IDEA} == {}


def test_no_two_classes_share_a_name():
    by_name = defaultdict(list)
    for name, path in modules(ROOT).items():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                by_name[node.name].append(name)
    assert {name: where for name, where in by_name.items() if len(where) > 1 and name != "Problem"} == {}


def test_no_name_hides_a_module():
    """``import fenchel.a.b`` and the attribute ``fenchel.a.b`` are the same module."""
    for name in modules(ROOT):
        parent, _, last = name.rpartition(".")
        if parent and last != "__main__":
            module = importlib.import_module(name)
            assert getattr(importlib.import_module(parent), last) is module, name


@pytest.mark.parametrize("name", PUBLIC)
def test_dir_lists_the_public_names(name):
    module = importlib.import_module(name)
    assert dir(module) == sorted(module.__all__)
    for public in module.__all__:
        assert getattr(module, public) is not None


def test_every_module_of_the_package_can_be_imported():
    for info in pkgutil.walk_packages([str(ROOT)], "fenchel."):
        if not info.name.endswith("__main__"):
            importlib.import_module(info.name)


def test_names_shared_with_scikit_learn_are_estimators():
    linear_model, svm = importlib.import_module("sklearn.linear_model"), importlib.import_module("sklearn.svm")
    for name in fenchel.__all__:
        theirs = getattr(linear_model, name, getattr(svm, name, None))
        if theirs is not None:
            assert hasattr(getattr(fenchel, name), "fit"), name


@pytest.mark.parametrize(
    ("statement", "unused"),
    [
        ("import fenchel", ("numpy", "scipy", "sklearn", "numba", "rich", "typer", "pyarrow", "pooch")),
        ("from fenchel.estimators import LogisticRegression", ("numba", "typer", "pooch", "fenchel.verification.certificates")),
        ("from fenchel import Problem, minimize, L2, Logistic", ("numba", "sklearn", "scipy.optimize", "pyarrow", "pandas", "matplotlib")),
        ("import fenchel.cli", ("numpy", "scipy", "sklearn", "numba", "pyarrow")),
    ],
)
def test_imports_are_as_late_as_possible(statement, unused):
    code = f"import sys\n{statement}\nprint([name for name in {unused} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def imported_tests(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The test modules that a tree imports, with the line."""
    for node in ast.walk(tree):
        found = []
        if isinstance(node, ast.ImportFrom):
            found = ["." * node.level + ".".join(filter(None, (node.module, alias.name))) for alias in node.names]
        elif isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found = [str(part.value) for part in node.args if isinstance(part, ast.Constant)]
        for name in found:
            first, *rest = name.split(".")
            if first in ("tests", "") and any(part.startswith("test_") for part in rest):
                yield name, node.lineno


def misplaced_tests(tests: Path) -> list[str]:
    """A message for every test file outside the folder of a package, and for every import of a test module."""
    wrong = []
    for path in sorted(tests.rglob("*.py")):
        name, folder = path.relative_to(tests).as_posix(), path.parent.relative_to(tests).as_posix()
        if folder not in OTHER_FOLDERS and not (ROOT / folder / "__init__.py").is_file():
            wrong.append(f"{name}: {folder} is not a package of fenchel")
        if folder == "." and name.startswith("test_") and name not in OTHER_FILES and not (ROOT / name.removeprefix("test_")).is_file():
            wrong.append(f"{name}: {name.removeprefix('test_')} is not a top-level module of fenchel")
        wrong += [f"{name}:{line} imports {module}" for module, line in imported_tests(ast.parse(path.read_text(encoding="utf-8")))]
    return wrong


def test_tests_are_in_the_folder_of_their_package_and_do_not_import_each_other():
    assert misplaced_tests(TESTS) == []


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("solver/test_sdca.py", "", "solver/test_sdca.py: solver is not a package of fenchel"),
        ("solvers/slow/test_sdca.py", "", "solvers/slow is not a package of fenchel"),
        ("paths/test_paths.py", "", "paths is not a package of fenchel"),
        ("test_sdca.py", "", "sdca.py is not a top-level module of fenchel"),
        ("solvers/test_sdca.py", "from tests.solvers.test_pgs import last", "solvers/test_sdca.py:1 imports tests.solvers.test_pgs.last"),
        ("solvers/test_sdca.py", "from tests.solvers import test_pgs", "imports tests.solvers.test_pgs"),
        ("solvers/test_sdca.py", "def f():\n    from .test_pgs import last", "solvers/test_sdca.py:2 imports .test_pgs.last"),
        ("solvers/test_sdca.py", "from . import test_pgs", "solvers/test_sdca.py:1 imports .test_pgs"),
        ("solvers/conftest.py", "import tests.test_theory", "solvers/conftest.py:1 imports tests.test_theory"),
        ("conftest.py", "import importlib\nimportlib.import_module('tests.test_theory')", "conftest.py:2 imports tests.test_theory"),
    ],
)
def test_misplaced_and_imported_tests_are_detected(tmp_path, file, text, complaint):
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    assert any(complaint in line for line in misplaced_tests(tmp_path))


def imported_names(path: Path) -> Iterator[tuple[str, str]]:
    """The names that a file imports from the package, with their modules."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.partition(".")[0] == "fenchel":
            yield from ((node.module, alias.name) for alias in node.names)


def has_name(module: str, name: str) -> bool:
    found = importlib.import_module(module)
    return hasattr(found, name) or (hasattr(found, "__path__") and importlib.util.find_spec(f"{module}.{name}") is not None)


@pytest.mark.parametrize("path", sorted((TESTS.parent / "benchmarks").rglob("*.py")), ids=lambda path: path.name)
def test_benchmarks_import_names_that_exist(path):
    assert [(module, name) for module, name in imported_names(path) if not has_name(module, name)] == []
