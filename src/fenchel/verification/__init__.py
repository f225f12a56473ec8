"""Check a certificate with code that shares nothing with the solvers: plain NumPy in extended precision, or exact fractions.

arithmetic      the numbers that the check computes with
definitions     losses, penalties and their conjugates, written down again from their formulas
certificates    P(w) rounded up and D(α) rounded down, and what they prove
"""

from __future__ import annotations

from fenchel.verification.certificates import Verification, verify

__all__ = ["Verification", "verify"]


def __dir__() -> list[str]:
    return sorted(__all__)
