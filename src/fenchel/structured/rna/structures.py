"""Sequences and structures as people write them, turned into arrays; what cannot be is refused, with its place.

A structure is a dot-bracket string, or a list of pairs, or an array of partners with -1 for unpaired bases; positions count from 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fenchel.structured.rna.features import BASES, KIND, LETTERS, LONGEST_LOOP, UNKNOWN

CAPITALS = {**{letter: code for code, letter in enumerate(BASES)}, "T": 3} | dict.fromkeys("NXRYKMSWBDHV", UNKNOWN)
CODES = CAPITALS | {letter.lower(): code for letter, code in CAPITALS.items()}
MOST = 5000  # bases: the tables take some 120 bytes for each pair of positions
LARGEST = 2.0**53  # beyond, floats skip whole numbers


def encoded(sequence: Any, place: str) -> np.ndarray:
    """The codes of the letters, in either case: T is U, and N, X and the IUPAC letters for several bases are unknown, which never pair.

    >>> encoded("acgtN", "sequence 0").tolist()
    [0, 1, 2, 3, 4]
    """
    if not isinstance(sequence, str):
        raise TypeError(f"{place} is of type {type(sequence).__name__}: give a string of A, C, G and U.")
    if not 0 < len(sequence) <= MOST:
        raise ValueError(f"{place} has {len(sequence)} bases: 1 to {MOST} can be folded.")
    try:
        return np.array([CODES[letter] for letter in sequence], dtype=np.int64)
    except KeyError as error:
        wrong = next(p for p, letter in enumerate(sequence) if letter not in CODES)
        raise ValueError(f"{place}, position {wrong}: {sequence[wrong]!r} is no base; A, C, G, U, T and N are.") from error


def partners_of(structure: Any, length: int, place: str, first: int = 0) -> np.ndarray:
    """The partner of every base, -1 for none, from any of the ways to write a structure; errors call the first position ``first``.

    >>> partners_of("(..)", 4, "structure 0").tolist(), partners_of([(0, 3)], 4, "structure 0").tolist()
    ([3, -1, -1, 0], [3, -1, -1, 0])
    """
    if isinstance(structure, str):
        partners = _of_brackets(structure, place)
    else:
        partners = _of_numbers(structure, length, place, first)
    if len(partners) != length:
        raise ValueError(f"{place} is of length {len(partners)}, and its sequence of length {length}: they must be equally long.")
    _check_nested(partners, place, first)
    return partners


def told_length(structure: Any, place: str) -> int | None:
    """How long the sequence of a structure is; None for pairs, which do not tell.

    >>> told_length("(..)", ""), told_length([3, -1, -1, 0], ""), told_length([(0, 3)], "")
    (4, 4, None)
    """
    if isinstance(structure, str):
        return len(structure)
    numbers = _numbers(structure, place)
    return len(numbers) if numbers.ndim == 1 and numbers.size else None


def without_crossing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pairs less those that cross others: time after time, the one that crosses most.

    >>> without_crossing([(0, 5), (1, 4), (3, 8)])
    [(0, 5), (1, 4)]
    """
    p, q = np.sort(np.array(pairs, dtype=np.int64).reshape(-1, 2), axis=1).T

    def crossed(k: int) -> np.ndarray:  # row by row, for a table of all would take pairs × pairs of memory
        return ((p[k] < p) & (p < q[k]) & (q[k] < q)) | ((p < p[k]) & (p[k] < q) & (q < q[k]))

    kept, counts = np.ones(len(p), dtype=bool), np.array([crossed(k).sum() for k in range(len(p))], dtype=np.int64)
    while counts.any():
        worst = int(counts.argmax())
        kept[worst], counts[worst] = False, 0
        counts[kept & crossed(worst)] -= 1
    return [pair for pair, keep in zip(pairs, kept.tolist(), strict=True) if keep]


def dot_bracket(partners: Iterable[int]) -> str:
    """The structure as a string.

    >>> dot_bracket([3, -1, -1, 0])
    '(..)'
    """
    return "".join("." if q < 0 else "(" if q > p else ")" for p, q in enumerate(partners))


def _of_brackets(structure: str, place: str) -> np.ndarray:
    partners = np.full(len(structure), -1, dtype=np.int64)
    opened: list[int] = []
    for p, mark in enumerate(structure):
        if mark == "(":
            opened.append(p)
        elif mark == ")":
            if not opened:
                raise ValueError(f"{place}, position {p}: ')' closes nothing; every ')' needs a '(' before it.")
            q = opened.pop()
            partners[p], partners[q] = q, p
        elif mark != ".":
            raise ValueError(f"{place}, position {p}: {mark!r} is none of '(', '.' and ')'; other brackets, of pseudoknots, cannot be had.")
    if opened:
        raise ValueError(f"{place}, position {opened[-1]}: '(' is never closed; every '(' needs a ')' after it.")
    return partners


def _numbers(structure: Any, place: str) -> np.ndarray:
    """Pairs, an array of two columns, or partners, one of one dimension; nothing at all is no pairs."""
    try:
        given = np.asarray(structure)
        numbers = given.astype(np.float64) if given.dtype.kind in "iufO" else None
    except OverflowError:
        raise ValueError(f"{place}: a position is too large for any sequence; positions count from 0.") from None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None or numbers.ndim == 0:
        raise TypeError(f"{place} is neither a dot-bracket string nor a list of pairs nor an array of partners.")
    if numbers.ndim > 2 or (numbers.ndim == 2 and numbers.shape[1] != 2):
        raise ValueError(f"{place} has shape {numbers.shape}: give pairs of two positions, or one partner for each base.")
    if not np.all((numbers == np.floor(numbers)) & (np.abs(numbers) <= LARGEST)):
        raise ValueError(f"{place}: positions must be whole numbers, in pairs or one for each base.")
    return numbers.astype(np.int64)


def _of_numbers(structure: Any, length: int, place: str, first: int) -> np.ndarray:
    numbers = _numbers(structure, place)
    if numbers.ndim == 1 and numbers.size not in (0, length):
        return numbers  # whose length the caller refuses
    pairs = numbers if numbers.ndim == 2 else checked_partners(numbers, place, first)
    partners = np.full(length, -1, dtype=np.int64)
    for p, q in pairs.tolist():
        if not (0 <= p < length and 0 <= q < length and p != q):
            raise ValueError(f"{place}: the pair ({p}, {q}) has no place in a sequence of length {length}; positions count from 0.")
        for a, b in ((p, q), (q, p)):
            if partners[a] not in (-1, b):
                raise ValueError(f"{place}, position {a}: it pairs with {partners[a]} and with {b}; a base pairs with one other.")
            partners[a] = b
    return partners


def checked_partners(partners: np.ndarray, place: str, first: int = 0) -> np.ndarray:
    """The pairs (p, q), each in both orders, of an array in which partners name each other."""
    paired = np.flatnonzero(partners >= 0)
    for p in paired.tolist():
        q = int(partners[p])
        if q == p:
            raise ValueError(f"{place}, position {p + first}: it pairs with itself; a base pairs with another, or with none.")
        if q >= len(partners) or partners[q] != p:
            raise ValueError(f"{place}, position {p + first}: it pairs with {q + first}, which does not pair with {p + first}.")
    return np.column_stack([paired, partners[paired]])


def _check_nested(partners: np.ndarray, place: str, first: int) -> None:
    opened: list[int] = []
    for p, q in enumerate(partners.tolist()):
        if q > p:
            opened.append(p)
        elif q >= 0 and opened.pop() != q:
            raise ValueError(
                f"{place}, position {p + first}: its pair with {q + first} crosses another; pseudoknots cannot be had, "
                "so leave one of them out."
            )


def foldable(s: np.ndarray, partners: np.ndarray, least: int) -> np.ndarray:
    """The structure without the pairs that the model cannot have.

    Those are pairs other than AU, CG and GU, hairpins of fewer than ``least`` bases, and interior loops of more than 30: of the pairs
    on the two sides of such a loop, those on the side that has fewer are dropped.

    >>> dot_bracket(foldable(encoded("GGAAAACA", ""), partners_of("((....))", 8, ""), 3))
    '.(....).'
    """
    kept = partners.copy()
    for p, q in enumerate(partners.tolist()):
        if q > p and (KIND[LETTERS * s[p] + s[q]] < 0):
            kept[p] = kept[q] = -1
    while (wrong := _first_wrong(kept, least)) is not None:
        kept[list(wrong)] = -1
    return kept


def _first_wrong(partners: np.ndarray, least: int) -> tuple[int, int] | None:
    """A pair that must go, if there is one."""
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
