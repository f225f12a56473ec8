"""Properties of every structured model, checked against the enumeration of all outputs of small examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp

from fenchel.linalg.weights import Plain
from fenchel.structured.oracle import decode_all, loss_and_subgradient
from fenchel.structured.training_losses import LOSSES

Outputs = Sequence[Sequence[np.ndarray]]  # all outputs of every example


def table(examples: Any, i: int, outputs: Sequence[np.ndarray], w: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Loss, score minus that of the truth, and parts minus those of the truth, of every output, computed in plain Python."""
    losses, scores, parts = [], [], []
    for y in outputs:
        d = np.empty(examples.parts(i))
        examples.difference(i, y, d)
        losses.append(examples.loss(i, y))
        scores.append(examples.dot(i, d, w))
        parts.append(d)
    return np.array(losses), np.array(scores), parts


def weights_of_parts(examples: Any, i: int, d: np.ndarray, n: int) -> np.ndarray:
    """A_i·d"""
    out = np.zeros(n)
    examples.add(i, 1.0, d, Plain(out))
    return out


def alone(examples: Any, i: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Weight 1 for example i and 0 for the others, in one thread."""
    m = examples.count()
    s = np.zeros(m)
    s[i] = 1.0
    return s, [np.array([i])]


def check_decoding(examples: Any, outputs: Outputs, w: np.ndarray) -> None:
    """The decoded output has the highest score of all outputs."""
    for i, y in enumerate(decode_all(examples, w, 1)):
        _, scores, _ = table(examples, i, outputs[i], w)
        _, decoded, _ = table(examples, i, [y], w)
        assert any(np.array_equal(y, other) for other in outputs[i]), f"example {i}: {y} is not an output"
        assert decoded[0] >= scores.max() - 1e-9 * (1.0 + abs(scores).max()), f"example {i}"


def check_margin(examples: Any, outputs: Outputs, w: np.ndarray) -> None:
    """The margin loss is the maximum over all outputs, and the vector returned with it is a subgradient."""
    for i in range(examples.count()):
        losses, scores, parts = table(examples, i, outputs[i], w)
        s, split = alone(examples, i)
        value, subgradient = loss_and_subgradient(examples, LOSSES["margin"], s, split, w)
        assert np.isclose(value, (losses + scores).max(), rtol=1e-9, atol=1e-9), f"example {i}"
        best = [weights_of_parts(examples, i, parts[k], len(w)) for k in np.flatnonzero(losses + scores >= value - 1e-9)]
        assert any(np.allclose(subgradient, candidate, atol=1e-9) for candidate in best), f"example {i}"


def check_likelihood(examples: Any, outputs: Outputs, w: np.ndarray) -> None:
    """The likelihood and its gradient agree with the distribution over all outputs."""
    for i in range(examples.count()):
        _, scores, parts = table(examples, i, outputs[i], w)
        s, split = alone(examples, i)
        value, subgradient = loss_and_subgradient(examples, LOSSES["likelihood"], s, split, w)
        assert np.isclose(value, logsumexp(scores), rtol=1e-9, atol=1e-9), f"example {i}"
        p = np.exp(scores - logsumexp(scores))
        assert np.allclose(subgradient, weights_of_parts(examples, i, np.tensordot(p, parts, 1), len(w)), atol=1e-8), f"example {i}"


def check_gradient(examples: Any, w: np.ndarray, loss: str = "likelihood", step: float = 1e-6) -> None:
    """The gradient of the loss agrees with finite differences for every weight."""
    m = examples.count()
    s, split = np.full(m, 1.0 / m), [np.arange(m)]

    def value(w: np.ndarray) -> float:
        return loss_and_subgradient(examples, LOSSES[loss], s, split, w)[0]

    _, subgradient = loss_and_subgradient(examples, LOSSES[loss], s, split, w)
    for j in range(len(w)):
        e = step * np.eye(1, len(w), j)[0]
        assert np.isclose(subgradient[j], (value(w + e) - value(w - e)) / (2.0 * step), rtol=1e-4, atol=1e-6), f"weight {j}"


def check_truth(examples: Any, truths: Sequence[np.ndarray]) -> None:
    """The loss and the part difference of the truth are zero."""
    for i, y in enumerate(truths):
        d = np.full(examples.parts(i), np.nan)
        examples.difference(i, y, d)
        assert examples.loss(i, y) == 0.0, f"example {i}"
        assert not d.any(), f"example {i}"
