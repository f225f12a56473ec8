"""Removal of the pairs that the model cannot represent."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from fenchel.datasets.rna_notation import dot_bracket, partners_of
from fenchel.structured.rna.sequences import encoded, foldable
from tests.structured.rna import rna_naive as naive

bases = st.text("ACGUN", min_size=1, max_size=40)


@given(bases, st.integers(0, 4), st.data())
@settings(max_examples=60, deadline=None)
def test_the_remaining_pairs_can_be_represented(sequence, least, data):
    partners, opened = [-1] * len(sequence), []
    for p in range(len(sequence)):
        move = data.draw(st.sampled_from("(.)"))
        if move == "(":
            opened.append(p)
        elif move == ")" and opened:
            q = opened.pop()
            partners[p], partners[q] = q, p
    text = dot_bracket(partners)
    given = partners_of(text, len(sequence), "it")
    assert given.tolist() == partners
    pairs = [(p, q) for p, q in enumerate(partners) if q > p]
    assert partners_of(pairs, len(sequence), "it").tolist() == partners == partners_of(partners, len(sequence), "it").tolist()
    kept = foldable(encoded(sequence, "it"), given, least).tolist()
    remaining = {(p, q) for p, q in enumerate(kept) if q > p}
    assert remaining <= set(pairs)
    assert all(sequence[p] + sequence[q] in naive.CANONICAL and q - p > least for p, q in remaining)
    assert all(naive.size(remaining, pair) <= 30 for pair in remaining if len(naive.inside(remaining, pair)) == 1)


def test_of_a_too_long_interior_loop_the_side_with_fewer_pairs_is_removed():
    sequence = "GGG" + "A" * 40 + "GGAAAACC" + "CCC"
    structure = "(((" + "." * 40 + "((....))" + ")))"
    kept = foldable(encoded(sequence, ""), partners_of(structure, len(sequence), ""), 3)
    assert dot_bracket(kept.tolist()) == "(((" + "." * 48 + ")))"
