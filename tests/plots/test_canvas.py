"""Code shared by figures: distinguishable colours, files, given axes, and the error without matplotlib."""

from __future__ import annotations

import builtins
import itertools
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from fenchel import plots
from fenchel.plots.canvas import COLOURS
from tests.plots.runs import solved

# Machado, Oliveira & Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009, severity 1.
PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
TRITANOPIA = [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]


@pytest.mark.parametrize("vision", [np.eye(3), PROTANOPIA, DEUTERANOPIA, TRITANOPIA], ids=["full", "protan", "deutan", "tritan"])
def test_colours_differ_for_every_kind_of_colour_vision(vision):
    """Measured by the CIE Lab distance of 1976; adjacent colours, which are used together most often, differ more."""
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
def test_figures_are_saved_in_the_format_of_the_ending(tmp_path, suffix, beginning):
    file = tmp_path / f"figure{suffix}"
    plots.save(plots.compare([solved()]), file)
    assert file.read_bytes().startswith(beginning)
    plots.save(plots.history(solved()).figure, str(file))
    assert [found.name for found in tmp_path.iterdir()] == [file.name]


def test_svg_files_are_valid_xml(tmp_path):
    plots.save(plots.history(solved()), tmp_path / "figure.svg")
    assert ET.parse(tmp_path / "figure.svg").getroot().tag.endswith("svg")


def test_figures_that_cannot_be_written_are_refused_and_leave_old_files(tmp_path):
    axes = plots.history(solved())
    for name, message in (
        ("figure.foo", "one of .png, .pdf, .svg, .jpg"),
        ("figure", "must be one of"),
        (".png", "must be one of"),
    ):
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
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, panels = pyplot.subplots(1, 2)
    try:
        assert plots.history(solved(), axes=panels[0]) is panels[0]
        assert plots.compare([solved()], axes=panels)[1] is panels[1]
        with pytest.raises(ValueError, match="2 axes were given: this figure needs 1"):
            plots.history(solved(), axes=panels)
    finally:
        pyplot.close(figure)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **options)

    result = solved()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "fenchel\[plot\]"'):
        result.plot()
