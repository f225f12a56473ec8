"""RNA folding, compared with the enumeration of all structures of short sequences."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import logsumexp

from fenchel.datasets import make_rna
from fenchel.datasets.rna_notation import partners_of
from fenchel.structured.oracle import decode_all, loss_and_subgradient
from fenchel.structured.rna import RnaFold
from fenchel.structured.rna.features import names
from fenchel.structured.training_losses import LOSSES
from tests.structured.rna import rna_naive as naive

NAMES = names()
# These contain multi-branch loops, all kinds of interior loops, unknown bases and stems at both ends.
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


ALONE = np.ones(1), [np.arange(1)]  # the weight of a single example, and its assignment to a thread


def case(sequence: str, hairpin: int, seed: int, missed: float = 1.0, false: float = 1.0):
    found, ys, counts = everything(sequence, hairpin)
    truth = np.random.default_rng(seed).integers(len(found))
    examples = RnaFold(hairpin, missed, false).examples([sequence], [ys[truth]])
    lost = np.array([missed * len(found[truth] - pairs) + false * len(pairs - found[truth]) for pairs in found])
    return examples, ys, counts, counts - counts[truth], lost


@pytest.mark.parametrize(("sequence", "hairpin"), CASES)
def test_features_and_loss_agree_with_the_naive_implementation(sequence, hairpin):
    examples, ys, _, differences, lost = case(sequence, hairpin, 0, 1.5, 0.5)
    d = np.empty(len(NAMES))
    for y, difference, loss in list(zip(ys, differences, lost, strict=True))[:: max(1, len(ys) // 300)]:
        examples.difference(0, y, d)
        assert examples.loss(0, y) == pytest.approx(loss)
        np.testing.assert_array_equal(d, difference)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("sequence", "hairpin"), CASES)
def test_decoding_finds_the_best_of_all_structures(sequence, hairpin, seed):
    examples, ys, counts, differences, lost = case(sequence, hairpin, seed, 2.0, 0.7)
    w = weights(seed)
    [y] = decode_all(examples, w, 1)
    [index] = np.flatnonzero((ys == y).all(axis=1))
    assert counts[index] @ w == pytest.approx((counts @ w).max(), abs=1e-9)
    value, gradient = loss_and_subgradient(examples, LOSSES["margin"], *ALONE, w)
    scores = lost + differences @ w
    assert value == pytest.approx(scores.max(), abs=1e-9)
    assert any(np.array_equal(gradient, differences[k]) for k in np.flatnonzero(scores > value - 1e-9))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1.0, 30.0, 500.0])  # the largest overflow unless logarithms are used
@pytest.mark.parametrize(("sequence", "hairpin"), CASES)
def test_expectations_agree_with_enumeration(sequence, hairpin, size):
    examples, ys, _, differences, _ = case(sequence, hairpin, 1)
    w = weights(1, size)
    scores = differences @ w
    total = logsumexp(scores)
    value, gradient = loss_and_subgradient(examples, LOSSES["likelihood"], *ALONE, w)
    assert value == pytest.approx(total, rel=1e-10, abs=1e-9)
    p = np.exp(scores - total)
    np.testing.assert_allclose(gradient, p @ differences, atol=1e-8)
    paired = np.array([[(ys[:, i] == j) @ p for j in range(len(sequence))] for i in range(len(sequence))])
    np.testing.assert_allclose(RnaFold(hairpin).pair_probabilities(sequence, w), paired, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.3, 1.0, 6.0])
@pytest.mark.parametrize(("sequence", "hairpin"), CASES)
def test_fold_maximises_the_expected_accuracy(sequence, hairpin, gamma):
    model, w = RnaFold(hairpin), weights(2)
    p = model.pair_probabilities(sequence, w)
    alone = 1.0 - p.sum(axis=1)

    def gain(y):
        return sum(gamma * p[i, j] if j >= 0 else alone[i] for i, j in enumerate(y))

    _, ys, _ = everything(sequence, hairpin)
    [folded] = model.fold([sequence], w, gamma)
    assert gain(partners_of(folded, len(sequence), "")) == pytest.approx(max(gain(y) for y in ys))


@pytest.mark.slow
def test_the_gradient_agrees_with_finite_differences():
    sequences, structures = make_rna(3, length=40, seed=1)
    examples, w = RnaFold().examples(sequences, structures), weights(3, 0.5)
    row_weights, split = np.full(3, 1 / 3), [np.arange(3)]
    gradient = loss_and_subgradient(examples, LOSSES["likelihood"], row_weights, split, w)[1]
    for direction in np.random.default_rng(0).standard_normal((5, len(w))):
        up, down = (loss_and_subgradient(examples, LOSSES["likelihood"], row_weights, split, w + h * direction)[0] for h in (1e-5, -1e-5))
        assert gradient @ direction == pytest.approx((up - down) / 2e-5, rel=1e-6)


@pytest.mark.slow
def test_log_space_and_products_give_the_same_expectations():
    """log Z and expected counts do not depend on the truth: with the empty one e^score overflows, with the best one it does not."""
    [sequence], _ = make_rna(1, length=160, seed=2)
    w = 0.3 * weights(4)
    w[NAMES.index("base_pair_CG")] = 25.0
    empty = "." * len(sequence)
    [best] = decode_all(RnaFold().examples([sequence], [empty]), w, 1)
    totals, counts = [], []
    for truth in (empty, best):
        examples = RnaFold().examples([sequence], [truth])
        value, gradient = loss_and_subgradient(examples, LOSSES["likelihood"], *ALONE, w)
        totals.append(value + examples.truths[0] @ w)
        counts.append(gradient + examples.truths[0])
    assert totals[0] > 710.0  # more than the logarithm of the largest float
    assert totals[0] == pytest.approx(totals[1], rel=1e-12)
    np.testing.assert_allclose(*counts, atol=1e-8)


@pytest.mark.slow
def test_plain_python_and_kernels_agree_and_support_a_scale():
    """The plain Python version runs in a separate process without compilation."""
    script = """
import numpy as np
from fenchel.structured.rna import RnaFold
w = np.random.default_rng(0).standard_normal(336)
examples = RnaFold(1).examples(["GGACUCAGU"], ["(.)(....)"])
y, d = np.empty(9, dtype=np.int64), np.empty(336)
examples.decode(0, w, 1.7, 1.0, y)
examples.difference(0, y, d)
print(examples.loss(0, y) + 1.7 * examples.dot(0, d, w), examples.expected(0, w, 1.7, d), d @ w)
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    examples, w = RnaFold(1).examples(["GGACUCAGU"], ["(.)(....)"]), weights(0)
    margin = loss_and_subgradient(examples, LOSSES["margin"], *ALONE, 1.7 * w)[0]
    likelihood, gradient = loss_and_subgradient(examples, LOSSES["likelihood"], *ALONE, 1.7 * w)
    assert [float(number) for number in run.stdout.split()] == pytest.approx([margin, likelihood, gradient @ w])


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ("ACGU", None, "X is a single string"),
        ([], None, "no sequences"),
        (["ACGU", ""], None, "sequence 1 has 0 bases"),
        (["A" * 5001], None, "sequence 0 has 5001 bases"),
        (["ACGU", "AC-U"], None, "sequence 1, position 2: '-' is not a base"),
        ([5], None, "sequence 0 is of type int"),
        (["ACGU"], ["....", "...."], "1 sequences but outputs for 2"),
        (["ACGU"], ["..."], "structure 0 has length 3, and its sequence length 4"),
        (["ACGU"], ["(..."], r"structure 0, position 0: '\(' has no matching '\)'"),
        (["ACGU"], ["..)."], r"structure 0, position 2: '\)' has no matching '\('"),
        (["ACGU"], ["[..]"], r"structure 0, position 0: '\['"),
        (["ACGU"], [[(0, 2), (1, 3)]], "structure 0, position 2: its pair with 0 crosses another"),
        (["ACGU"], [[(0, 2), (2, 3)]], "structure 0, position 2: it pairs with 0 and with 3"),
        (["ACGU"], [[(0, 4)]], r"the pair \(0, 4\) is outside a sequence"),
        (["ACGU"], [[2, -1, 3, -1]], "structure 0, position 0: it pairs with 2, which does not pair with 0"),
        (["ACGU"], [[0.5, 1, 2, 3]], "whole numbers"),
        (["ACGU"], [object()], "structure 0 must be a dot-bracket string"),
        (["ACGU"], [["(", ".", ".", ")"]], "structure 0 must be a dot-bracket string"),
        (["ACGU"], [3], "structure 0 must be a dot-bracket string"),
        (["ACGU"], [[5]], "structure 0 has length 1, and its sequence length 4"),
        (["ACGU"], [[-1, -1]], "structure 0 has length 2, and its sequence length 4"),
        (["ACGU"], [[[0, 3, 1]]], r"structure 0 has shape \(1, 3\)"),
        (["ACGU"], [np.zeros((2, 3), dtype=int)], r"structure 0 has shape \(2, 3\)"),
        (["ACGU"], [[[(0, 3)]]], r"structure 0 has shape \(1, 1, 2\)"),
        (["ACGU"], [[(10**30, 3)]], "structure 0: positions must be whole numbers"),
        (["ACGU"], [[(10**400, 3)]], "structure 0: a position is too large"),
        (["ACGU"], [[(2**63, 3)]], "structure 0: positions must be whole numbers"),
        (["ACGU"], [[math.nan, -1, -1, -1]], "structure 0: positions must be whole numbers"),
        (["ACGU"], [[-1, 1, -1, -1]], "structure 0, position 1: it pairs with itself"),
        (["GGß"], None, "sequence 0, position 2: 'ß' is not a base"),
        (["GGſ"], None, "sequence 0, position 2: 'ſ' is not a base"),  # whose capital is S
    ],
)
def test_invalid_sequences_and_structures_are_refused_with_their_position(X, Y, message):
    with pytest.raises((TypeError, ValueError), match=message):
        RnaFold().examples(X, Y)


@pytest.mark.parametrize(
    "options", [{"hairpin": -1}, {"hairpin": 2.5}, {"hairpin": True}, {"missed": -1.0}, {"false": "1"}, {"missed": math.nan}]
)
def test_invalid_options_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        RnaFold(**options)


def test_models_can_be_restored_from_json_and_invalid_values_are_refused():
    model = RnaFold(2, 1.5, 0.5)
    assert RnaFold.from_json(json.loads(json.dumps(model.to_json()))) == model
    for wrong in ({}, {"hairpin": 3}, {**model.to_json(), "more": 1}, {**model.to_json(), "hairpin": "3"}, [3, 1.0, 1.0]):
        with pytest.raises(ValueError, match=r"hairpin"):
            RnaFold.from_json(wrong)


@pytest.mark.slow
def test_the_likelihood_loss_is_non_negative():
    lowest = 0.0
    for seed in range(40):
        sequence = "".join(np.random.default_rng(seed).choice(list("ACGU"), 30))
        w = 40.0 * weights(seed)
        [y] = decode_all(RnaFold().examples([sequence]), w, 1)
        examples = RnaFold().examples([sequence], [y])
        lowest = min(lowest, loss_and_subgradient(examples, LOSSES["likelihood"], *ALONE, w)[0])
    assert lowest == 0.0
