"""Figures of several panels: what is drawn, labelled and told apart."""

from __future__ import annotations

import numpy as np
import pytest

from fenchel.plots.panel_figure import Curve, Panel, panel_figure


def panel(labels, **options):
    return Panel("a panel", "passes", "objective", [Curve(label, [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]) for label in labels], **options)


def look(line):
    return line.get_color(), line.get_linestyle(), line.get_marker()


def test_curves_of_a_label_look_the_same_in_every_panel_and_others_do_not():
    first, second = panel_figure([panel(["pgs", "sdca", "scd"]), panel(["scd", "pgs"])]).axes
    looks = {line.get_label(): look(line) for line in first.lines}
    assert len(set(looks.values())) == 3
    assert {line.get_label(): look(line) for line in second.lines} == {label: looks[label] for label in ("scd", "pgs")}


def test_there_is_one_legend_with_every_label_once():
    figure = panel_figure([panel(["pgs", "sdca"]), panel(["sdca", "scd"])])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["pgs", "sdca", "scd"]
    assert all(axes.get_legend() is None for axes in figure.axes)


@pytest.mark.parametrize(("count", "columns", "shape"), [(1, 3, (1, 1)), (3, 3, (1, 3)), (4, 3, (2, 3)), (4, 2, (2, 2))])
def test_panels_fill_rows(count, columns, shape):
    figure = panel_figure([panel(["pgs"])] * count, columns)
    assert len(figure.axes) == count
    grid = figure.axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == shape


def test_printed_numbers_are_hollow_points_without_a_line():
    curves = [Curve("ours", [0, 1], [1.0, 2.0]), Curve("printed", [0, 1], [1.5, np.nan], is_printed=True)]
    _, printed = panel_figure([Panel("a", "x", "y", curves)]).axes[0].lines
    assert printed.get_linestyle() == "None"
    assert printed.get_markerfacecolor() == "none"


def test_bands_are_drawn_where_they_are_finite():
    curves = [Curve("median", [1.0, 2.0, 3.0], [1.0, 2.0, np.inf], [0.5, 1.0, 2.0], [2.0, 3.0, np.inf])]
    (axes,) = panel_figure([Panel("a", "x", "y", curves)]).axes
    (band,) = axes.collections
    assert band.get_paths()[0].get_extents().y1 == 3.0


def test_positions_have_names_and_are_not_joined():
    curves = [Curve("loss", [0, 1], [0.1, 0.2])]
    (axes,) = panel_figure([Panel("a", "", "loss", curves, names=["a9a", "w8a"])]).axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["a9a", "w8a"]
    assert axes.lines[0].get_linestyle() == "None"


def test_a_short_logarithmic_range_has_labels_between_powers():
    curves = [Curve("seconds", [100.0, 400.0], [1.0, 5000.0])]
    figure = panel_figure([Panel("a", "m", "seconds", curves, log_x=True, log_y=True)])
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_xticklabels() if text.get_text() in ("100", "200", "300", "400")] == ["100", "200"]
    assert {"1", "1,000"} <= {text.get_text() for text in axes.get_yticklabels()}
    assert "2" not in {text.get_text() for text in axes.get_yticklabels()}
