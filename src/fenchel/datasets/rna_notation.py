"""Conversion between the notations of RNA secondary structures; errors name the place.

A structure is a dot-bracket string, a list of pairs, or an array of partners with -1 for unpaired bases; positions count from 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fenchel.core.errors import InputError, InputTypeError

LARGEST = 2.0**53  # larger floats cannot represent every whole number


def partners_of(structure: Any, length: int, place: str, first: int = 0) -> np.ndarray:
    """The partner of every base, -1 for none, from any notation of a structure; in errors the first position has the number ``first``.

    >>> partners_of("(..)", 4, "structure 0").tolist(), partners_of([(0, 3)], 4, "structure 0").tolist()
    ([3, -1, -1, 0], [3, -1, -1, 0])
    """
    if isinstance(structure, str):
        partners = _of_brackets(structure, place)
    else:
        partners = _of_numbers(structure, length, place, first)
    if len(partners) != length:
        raise InputError(f"{place} has length {len(partners)}, and its sequence length {length}: they must be equal.")
    _check_nested(partners, place, first)
    return partners


def structure_length(structure: Any, place: str) -> int | None:
    """The length of the sequence of a structure; None for pairs, which do not determine it.

    >>> structure_length("(..)", ""), structure_length([3, -1, -1, 0], ""), structure_length([(0, 3)], "")
    (4, 4, None)
    """
    if isinstance(structure, str):
        return len(structure)
    numbers = _numbers(structure, place)
    return len(numbers) if numbers.ndim == 1 and numbers.size else None


def without_crossing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pairs without crossings: the pair that crosses most others is removed, until none cross.

    >>> without_crossing([(0, 5), (1, 4), (3, 8)])
    [(0, 5), (1, 4)]
    """
    p, q = np.sort(np.array(pairs, dtype=np.int64).reshape(-1, 2), axis=1).T

    def crossed(k: int) -> np.ndarray:  # row by row, because a table of all would take pairs × pairs of memory
        return ((p[k] < p) & (p < q[k]) & (q[k] < q)) | ((p < p[k]) & (p[k] < q) & (q < q[k]))

    kept, counts = np.ones(len(p), dtype=bool), np.array([crossed(k).sum() for k in range(len(p))], dtype=np.int64)
    while counts.any():
        worst = int(counts.argmax())
        kept[worst], counts[worst] = False, 0
        counts[kept & crossed(worst)] -= 1
    return [pair for pair, keep in zip(pairs, kept.tolist(), strict=True) if keep]


def dot_bracket(partners: Iterable[int]) -> str:
    """The structure in dot-bracket notation.

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
                raise InputError(f"{place}, position {p}: ')' has no matching '(' before it; remove it or add one.")
            q = opened.pop()
            partners[p], partners[q] = q, p
        elif mark != ".":
            raise InputError(
                f"{place}, position {p}: {mark!r} is not one of '(', '.' and ')'; other brackets (pseudoknots) are not supported."
            )
    if opened:
        raise InputError(f"{place}, position {opened[-1]}: '(' has no matching ')' after it; remove it or add one.")
    return partners


def _numbers(structure: Any, place: str) -> np.ndarray:
    """Pairs as an array with two columns, or partners as one-dimensional array; an empty structure has no pairs."""
    try:
        given = np.asarray(structure)
        numbers = given.astype(np.float64) if given.dtype.kind in "iufO" else None
    except OverflowError:
        raise InputError(f"{place}: a position is too large; positions count from 0.") from None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None or numbers.ndim == 0:
        raise InputTypeError(f"{place} must be a dot-bracket string, a list of pairs or an array of partners.")
    if numbers.ndim > 2 or (numbers.ndim == 2 and numbers.shape[1] != 2):
        raise InputError(f"{place} has shape {numbers.shape}: give pairs of two positions, or one partner for each base.")
    if not np.all((numbers == np.floor(numbers)) & (np.abs(numbers) <= LARGEST)):
        raise InputError(f"{place}: positions must be whole numbers, in pairs or one for each base.")
    return numbers.astype(np.int64)


def _of_numbers(structure: Any, length: int, place: str, first: int) -> np.ndarray:
    numbers = _numbers(structure, place)
    if numbers.ndim == 1 and numbers.size not in (0, length):
        return numbers  # the caller refuses its length
    pairs = numbers if numbers.ndim == 2 else checked_partners(numbers, place, first)
    partners = np.full(length, -1, dtype=np.int64)
    for p, q in pairs.tolist():
        if not (0 <= p < length and 0 <= q < length and p != q):
            raise InputError(f"{place}: the pair ({p}, {q}) is outside a sequence of length {length}; positions count from 0.")
        for a, b in ((p, q), (q, p)):
            if partners[a] not in (-1, b):
                raise InputError(f"{place}, position {a}: it pairs with {partners[a]} and with {b}; a base pairs with at most one other.")
            partners[a] = b
    return partners


def checked_partners(partners: np.ndarray, place: str, first: int = 0) -> np.ndarray:
    """The pairs (p, q), each in both orders, of an array of partners, which must be symmetric."""
    paired = np.flatnonzero(partners >= 0)
    for p in paired.tolist():
        q = int(partners[p])
        if q == p:
            raise InputError(f"{place}, position {p + first}: it pairs with itself; a base pairs with another or with none.")
        if q >= len(partners) or partners[q] != p:
            raise InputError(
                f"{place}, position {p + first}: it pairs with {q + first}, which does not pair with {p + first}; pairs are symmetric."
            )
    return np.column_stack([paired, partners[paired]])


def _check_nested(partners: np.ndarray, place: str, first: int) -> None:
    opened: list[int] = []
    for p, q in enumerate(partners.tolist()):
        if q > p:
            opened.append(p)
        elif q >= 0 and opened.pop() != q:
            raise InputError(
                f"{place}, position {p + first}: its pair with {q + first} crosses another; pseudoknots are not supported, "
                "so leave one of the pairs out."
            )
