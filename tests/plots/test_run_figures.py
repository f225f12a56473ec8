"""Figures of runs show the recorded numbers, also extreme ones, with labels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fenchel as fl
from fenchel import plots
from tests.plots.runs import solved


def recorded(objectives, bounds, gaps):
    history = fl.History()
    for k, (objective, bound, gap) in enumerate(zip(objectives, bounds, gaps, strict=True)):
        history.append(passes=k, accesses=10 * k, seconds=0.1 * k, objective=objective, dual_objective=bound, gap=gap, nnz=k)
    return history


def by_label(axes):
    return {line.get_label(): line for line in axes.lines}


@pytest.mark.parametrize("x", ["passes", "seconds", "accesses"])
def test_the_drawn_numbers_are_those_recorded(x):
    result = solved()
    lines = by_label(result.plot(x=x))
    gap, above = lines["certified gap"], lines["objective minus the best bound"]
    assert gap.get_xdata().tolist() == above.get_xdata().tolist() == result.history[x].tolist()
    assert gap.get_ydata().tolist() == result.history["gap"].tolist()
    assert above.get_ydata().tolist() == (result.history["objective"] - result.history["dual_objective"].max()).tolist()
    assert set(lines["tolerance"].get_ydata()) == {result.target}
    assert (result.gap <= result.target) == result.converged


def test_axes_are_labelled():
    axes = plots.history(solved())
    assert axes.get_xlabel() == "passes over the data"
    assert axes.get_ylabel()
    assert axes.get_yscale() == "log"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(by_label(axes))


def test_histories_and_estimators_can_be_drawn():
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


def test_for_a_stream_the_objective_and_its_bound_are_drawn():
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


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(values, values, values), max_size=60))
def test_any_history_can_be_drawn_and_saved(tmp_path_factory, rows):
    history = recorded(*zip(*rows, strict=True)) if rows else fl.History()
    axes = plots.history(history)
    plots.save(axes, tmp_path_factory.mktemp("odd") / "figure.png")
    drawn = by_label(axes).get("certified gap")
    if drawn is not None:
        shown = (history["gap"] == 0.0) | ((np.abs(history["gap"]) > 1e-150) & (np.abs(history["gap"]) < 1e150))
        assert drawn.get_ydata()[shown].tolist() == history["gap"][shown].tolist()
        assert np.isnan(drawn.get_ydata()[~np.isfinite(history["gap"])]).all()


def test_a_gap_of_zero_is_marked_at_the_bottom():
    axes = plots.history(recorded([3.0, 2.0, 1.0], [0.0, 0.5, 1.0], [3.0, 1.5, 0.0]))
    assert axes.get_yscale() == "log"
    assert [line.get_xdata().tolist() for line in axes.lines if line.get_marker() == "v"] == [[2], [2]]


def test_compare_draws_the_gap_of_every_solver():
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


def test_every_curve_has_a_different_style():
    history = recorded([1.0, 0.5], [0.0, 0.4], [1.0, 0.1])
    [panel] = plots.compare({str(k): history for k in range(30)}, x="passes")
    styles = [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in panel.lines]
    assert len(set(styles)) == 30
