"""Encoding of RNA sequences, and removal of the pairs that the model cannot represent."""

from __future__ import annotations

from typing import Any

import numpy as np

from fenchel.core.errors import InputError, InputTypeError
from fenchel.structured.rna.features import BASES, KIND, LETTERS, LONGEST_LOOP, UNKNOWN

CAPITALS = {**{letter: code for code, letter in enumerate(BASES)}, "T": 3} | dict.fromkeys("NXRYKMSWBDHV", UNKNOWN)
CODES = CAPITALS | {letter.lower(): code for letter, code in CAPITALS.items()}
LONGEST_SEQUENCE = 5000  # bases: the tables take about 120 bytes for each pair of positions


def encoded(sequence: Any, place: str) -> np.ndarray:
    """The codes of the letters, in either case: T is U; N, X and the IUPAC letters for several bases are unknown and never pair.

    >>> encoded("acgtN", "sequence 0").tolist()
    [0, 1, 2, 3, 4]
    """
    if not isinstance(sequence, str):
        raise InputTypeError(f"{place} is of type {type(sequence).__name__}: give a string of A, C, G and U.")
    if not 0 < len(sequence) <= LONGEST_SEQUENCE:
        raise InputError(f"{place} has {len(sequence)} bases: give a sequence of 1 to {LONGEST_SEQUENCE}.")
    try:
        return np.array([CODES[letter] for letter in sequence], dtype=np.int64)
    except KeyError as error:
        wrong = next(p for p, letter in enumerate(sequence) if letter not in CODES)
        raise InputError(f"{place}, position {wrong}: {sequence[wrong]!r} is not a base: use A, C, G, U, T and N.") from error


def foldable(s: np.ndarray, partners: np.ndarray, least: int) -> np.ndarray:
    """The structure without the pairs that the model cannot represent.

    Those are pairs other than AU, CG and GU, hairpins of fewer than ``least`` bases, and interior loops of more than 30: the pairs on
    the side of such a loop that has fewer are dropped.

    >>> from fenchel.datasets.rna_notation import dot_bracket, partners_of
    >>> dot_bracket(foldable(encoded("GGAAAACA", ""), partners_of("((....))", 8, ""), 3))
    '.(....).'
    """
    kept = partners.copy()
    for p, q in enumerate(partners.tolist()):
        if q > p and (KIND[LETTERS * s[p] + s[q]] < 0):
            kept[p] = kept[q] = -1
    while (wrong := _first_impossible(kept, least)) is not None:
        kept[list(wrong)] = -1
    return kept


def _first_impossible(partners: np.ndarray, least: int) -> tuple[int, int] | None:
    """A pair that must be removed, if there is one."""
    opened: list[tuple[int, list[tuple[int, int]]]] = []  # pairs around p, with the pairs directly inside each
    sizes: dict[int, int] = {}
    for p, q in enumerate(partners.tolist()):
        if q > p:
            opened.append((p, []))
        elif q >= 0:
            _, inside = opened.pop()
            sizes[q] = 1 + sum(sizes[k] for k, _ in inside)
            unpaired = p - q - 1 - sum(l - k + 1 for k, l in inside)
            if not inside and unpaired < least:
                return q, p
            if len(inside) == 1 and unpaired > LONGEST_LOOP:
                return (q, p) if len(opened) < sizes[inside[0][0]] else inside[0]
            if opened:
                opened[-1][1].append((q, p))
    return None
