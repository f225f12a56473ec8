"""Figures: they show the numbers there are, to everybody, on any machine, and leave nothing behind."""

from __future__ import annotations

import builtins
import itertools
import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fenchel as fl
from fenchel import plots
from fenchel.experiments.inverse_time import Size
from fenchel.plots.canvas import COLOURS

pyplot = pytest.importorskip("matplotlib.pyplot")

# Machado, Oliveira & Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009, severity 1.
PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
TRITANOPIA = [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]


@pytest.fixture(autouse=True)
def nothing_left_behind():
    before = pyplot.get_fignums()
    yield
    assert pyplot.get_fignums() == before


def solved(solver="sdca", tol=1e-5, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = np.sign(X[:, 0] + rng.standard_normal(60))
    return fl.minimize(fl.Problem(X, y, fl.SmoothHinge(1.0), fl.L2(1e-2)), solver, tol=tol, **options)


def recorded(objectives, bounds, gaps):
    history = fl.History()
    for k, (objective, bound, gap) in enumerate(zip(objectives, bounds, gaps, strict=True)):
        history.append(passes=k, accesses=10 * k, seconds=0.1 * k, objective=objective, dual_objective=bound, gap=gap, nnz=k)
    return history


def by_label(axes):
    return {line.get_label(): line for line in axes.lines}


@pytest.mark.parametrize("x", ["passes", "seconds", "accesses"])
def test_what_is_drawn_is_what_was_recorded(x):
    result = solved()
    lines = by_label(result.plot(x=x))
    gap, above = lines["certified gap"], lines["objective above the best bound"]
    assert gap.get_xdata().tolist() == above.get_xdata().tolist() == result.history[x].tolist()
    assert gap.get_ydata().tolist() == result.history["gap"].tolist()
    assert above.get_ydata().tolist() == (result.history["objective"] - result.history["dual_objective"].max()).tolist()
    assert set(lines["tolerance"].get_ydata()) == {result.target}
    assert (result.gap <= result.target) == result.converged


def test_axes_say_what_they_show():
    axes = plots.history(solved())
    assert axes.get_xlabel() == "passes over the data"
    assert axes.get_ylabel()
    assert axes.get_yscale() == "log"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(by_label(axes))


def test_a_history_alone_and_an_estimator_are_drawn_too():
    result = solved()
    expected = result.history["gap"].tolist()
    assert by_label(plots.history(result.history))["certified gap"].get_ydata().tolist() == expected

    class Fitted:
        history_ = result.history

    class OnePerClass:
        history_ = [result.history, result.history]

    assert by_label(plots.history(Fitted()))["certified gap"].get_ydata().tolist() == expected
    assert by_label(plots.history(OnePerClass()))["certified gap, problem 2"].get_ydata().tolist() == expected
    with pytest.raises(TypeError, match="str has no history to draw: give a result"):
        plots.history("result")


def test_a_stream_has_no_gap_so_its_objective_and_bound_are_drawn():
    X, y = fl.datasets.make_text(300, n=50, nonzeros=5)
    chunks = [(X[i : i + 50], y[i : i + 50]) for i in range(0, 300, 50)]
    result = fl.minimize(fl.Stream(chunks, loss=fl.Logistic(), regularizer=fl.L2(1e-2), features=50), "pgs", tol=0.0)
    axes = result.plot()
    lines = by_label(axes)
    assert lines["objective, an estimate"].get_ydata().tolist() == result.history["objective"].tolist()
    assert lines["bound"].get_ydata().tolist() == result.history["dual_objective"].tolist()
    assert axes.get_yscale() == "linear"
    with pytest.raises(ValueError, match="streamed has no certified gap to compare"):
        plots.compare({"streamed": result})


values = st.sampled_from([0.0, -0.0, 1.0, 1e-300, 1e300, math.inf, -math.inf, math.nan, 5e-324]) | st.floats(-1e6, 1e6)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(values, values, values), max_size=60))
def test_no_history_is_too_odd_to_be_drawn_and_saved(tmp_path_factory, rows):
    history = recorded(*zip(*rows, strict=True)) if rows else fl.History()
    axes = plots.history(history)
    plots.save(axes, tmp_path_factory.mktemp("odd") / "figure.png")
    drawn = by_label(axes).get("certified gap")
    if drawn is not None:
        shown = (history["gap"] == 0.0) | ((np.abs(history["gap"]) > 1e-150) & (np.abs(history["gap"]) < 1e150))
        assert drawn.get_ydata()[shown].tolist() == history["gap"][shown].tolist()
        assert np.isnan(drawn.get_ydata()[~np.isfinite(history["gap"])]).all()


def test_a_gap_of_zero_is_marked_at_the_foot():
    axes = plots.history(recorded([3.0, 2.0, 1.0], [0.0, 0.5, 1.0], [3.0, 1.5, 0.0]))
    assert axes.get_yscale() == "log"
    assert [line.get_xdata().tolist() for line in axes.lines if line.get_marker() == "v"] == [[2], [2]]


def test_solvers_side_by_side():
    results = [solved("sdca"), solved("fista"), solved("sdca")]
    axes = plots.compare(results)
    assert [panel.get_xlabel() for panel in axes] == ["seconds in the solver", "passes over the data"]
    for panel, x in zip(axes, ("seconds", "passes"), strict=True):
        lines = by_label(panel)
        assert list(lines) == ["sdca", "fista", "sdca (2)", "tolerance"]
        for name, result in zip(lines, results, strict=False):
            assert lines[name].get_xdata().tolist() == result.history[x].tolist()
            assert lines[name].get_ydata().tolist() == result.history["gap"].tolist()
    [panel] = plots.compare({"mine": results[0]}, x="accesses")
    assert list(by_label(panel)) == ["mine", "tolerance"]
    with pytest.raises(ValueError, match="no results to compare"):
        plots.compare([])
    with pytest.raises(ValueError, match="x='pases': did you mean 'passes'"):
        plots.compare(results, x="pases")


def test_no_two_curves_look_alike():
    course = recorded([1.0, 0.5], [0.0, 0.4], [1.0, 0.1])
    [panel] = plots.compare({str(k): course for k in range(30)}, x="passes")
    looks = [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in panel.lines]
    assert len(set(looks)) == 30


@pytest.mark.parametrize("vision", [np.eye(3), PROTANOPIA, DEUTERANOPIA, TRITANOPIA], ids=["full", "protan", "deutan", "tritan"])
def test_colours_differ_for_everybody(vision):
    """By the CIE Lab distance of 1976; neighbours in the list, which are met together most often, by more."""
    seen = [lab(np.asarray(vision) @ linear_rgb(colour)) for colour in COLOURS]
    for (i, first), (j, second) in itertools.combinations(enumerate(seen), 2):
        assert np.linalg.norm(first - second) > (40.0 if j == i + 1 else 15.0), (COLOURS[i], COLOURS[j])
    white = lab(np.ones(3))
    assert min(np.linalg.norm(colour - white) for colour in seen) > 30.0


def linear_rgb(colour):
    rgb = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(rgb, 0.0, 1.0)
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 0.008856))
    return np.array([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)])


@pytest.mark.parametrize(("suffix", "beginning"), [(".png", b"\x89PNG"), (".PNG", b"\x89PNG"), (".pdf", b"%PDF"), (".jpg", b"\xff\xd8")])
def test_figures_are_files(tmp_path, suffix, beginning):
    file = tmp_path / f"figure{suffix}"
    plots.save(plots.compare([solved()]), file)
    assert file.read_bytes().startswith(beginning)
    plots.save(plots.history(solved()).figure, str(file))
    assert [found.name for found in tmp_path.iterdir()] == [file.name]


def test_svg_is_xml(tmp_path):
    plots.save(plots.history(solved()), tmp_path / "figure.svg")
    assert ET.parse(tmp_path / "figure.svg").getroot().tag.endswith("svg")


def test_what_cannot_be_written_is_refused_and_harms_nothing(tmp_path):
    axes = plots.history(solved())
    for name, message in (("figure.foo", "must end in .png, .pdf, .svg, .jpg"), ("figure", "must end in"), (".png", "must end in")):
        with pytest.raises(ValueError, match=message):
            plots.save(axes, tmp_path / name)
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        plots.save(axes, tmp_path / "nowhere" / "figure.png")
    old = tmp_path / "figure.png"
    old.write_bytes(b"old")

    class Broken:
        def savefig(self, path, **options):
            path.write_bytes(b"half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        plots.save(Broken(), old)
    assert [found.name for found in tmp_path.iterdir()] == ["figure.png"]
    assert old.read_bytes() == b"old"


def test_given_axes_are_used():
    figure, panels = pyplot.subplots(1, 2)
    try:
        assert plots.history(solved(), axes=panels[0]) is panels[0]
        assert plots.compare([solved()], axes=panels)[1] is panels[1]
        with pytest.raises(ValueError, match="axes are 2: this figure needs 1"):
            plots.history(solved(), axes=panels)
    finally:
        pyplot.close(figure)


def test_inverse_time_shows_medians_and_skips_what_was_not_reached():
    sizes = [Size(100, None, [math.inf] * 3, [math.inf] * 3), Size(200, None, [1.0, 2.0, 9.0], [10.0, 20.0, 30.0]), Size(400, None)]
    seconds, iterations = plots.inverse_time(sizes, 0.9)
    assert np.array_equal(seconds.lines[0].get_ydata(), [math.nan, 2.0, math.nan], equal_nan=True)
    assert np.array_equal(iterations.lines[0].get_ydata(), [math.nan, 20.0, math.nan], equal_nan=True)
    assert [text.get_text() for text in seconds.get_xticklabels()] == ["100", "200", "400"]


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **options)

    result = solved()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "fenchel\[plot\]"'):
        result.plot()
