"""RNA folding against every structure of short sequences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fenchel.compiled import kernel
from fenchel.structured.rna import RnaFold
from fenchel.structured.rna.features import names
from tests.structured import rna_naive as naive

NAMES = names()
# Multi-branch loops, interior loops of all sorts, an unknown base, stems at both ends; with short hairpins, thousands of structures.
CASES = [
    ("GCAUGCAGCCUGAC", 0),
    ("GGCACUGAGUCGAC", 1),
    ("GGACNUCAGUGGACUC", 2),
    ("GGGAAAACCUCUGAAAGGC", 3),
    ("GNGCAAGC", 1),
    ("AAAA", 3),
    ("G", 3),
    ("GC", 0),
]


@kernel
def decode(examples, i, w, scale, cost, y):
    examples.decode(i, w, scale, cost, y)


@kernel
def expected(examples, i, w, scale, d):
    return examples.expected(i, w, scale, d)


@kernel
def measure(examples, i, y, d):
    examples.difference(i, y, d)
    return examples.loss(i, y)


def weights(seed: int, size: float = 1.0) -> np.ndarray:
    return size * np.random.default_rng(seed).standard_normal(len(NAMES))


def everything(sequence: str, hairpin: int):
    """All structures as pairs and as partners, and their features, one row each."""
    found = naive.structures(sequence, hairpin)
    number = {name: j for j, name in enumerate(NAMES)}
    counts = np.zeros((len(found), len(NAMES)))
    for row, pairs in zip(counts, found, strict=True):
        for name, count in naive.features(sequence, pairs).items():
            row[number[name]] = count
    return found, np.array([naive.partners(pairs, len(sequence)) for pairs in found]), counts


def case(sequence: str, hairpin: int, seed: int, missed: float = 1.0, false: float = 1.0):
    found, ys, counts = everything(sequence, hairpin)
    truth = np.random.default_rng(seed).integers(len(found))
    examples = RnaFold(hairpin, missed, false).examples([sequence], [ys[truth]])
    lost = np.array([missed * len(found[truth] - pairs) + false * len(pairs - found[truth]) for pairs in found])
    return examples, ys, counts, counts - counts[truth], lost


@pytest.mark.parametrize(("sequence", "hairpin"), CASES)
def test_features_and_loss_are_those_of_the_naive_scorer(sequence, hairpin):
    examples, ys, _, differences, lost = case(sequence, hairpin, 0, 1.5, 0.5)
    d = np.empty(len(NAMES))
    for y, difference, loss in list(zip(ys, differences, lost, strict=True))[:: max(1, len(ys) // 300)]:
        assert measure(examples, 0, y, d) == pytest.approx(loss)
        np.testing.assert_array_equal(d, difference)


@pytest.mark.parametrize("cost", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("sequence", "hairpin"), CASES)
def test_decoding_finds_the_best_of_all_structures(sequence, hairpin, seed, cost):
    examples, ys, _, differences, lost = case(sequence, hairpin, seed, 2.0, 0.7)
    w, y, d = weights(seed), np.empty(len(sequence), dtype=np.int64), np.empty(len(NAMES))
    decode(examples, 0, w, 1.7, cost, y)
    assert (ys == y).all(axis=1).any()
    loss = measure(examples, 0, y, d)
    assert cost * loss + 1.7 * (w @ d) == pytest.approx((cost * lost + 1.7 * differences @ w).max(), abs=1e-9)


@pytest.mark.parametrize("size", [1.0, 30.0, 500.0])  # the largest are beyond floating point, unless logarithms are taken
@pytest.mark.parametrize(("sequence", "hairpin"), CASES)
def test_expectations_are_those_over_all_structures(sequence, hairpin, size):
    examples, _, _, differences, _ = case(sequence, hairpin, 1)
    w, d = weights(1, size), np.empty(len(NAMES))
    scores = 0.8 * differences @ w
    total = scores.max() + math.log(np.exp(scores - scores.max()).sum())
    assert expected(examples, 0, w, 0.8, d) == pytest.approx(total, rel=1e-10, abs=1e-9)
    np.testing.assert_allclose(d, np.exp(scores - total) @ differences, atol=1e-8)
