"""Check a certificate with code that shares nothing with the solvers: plain NumPy in extended precision, or exact fractions.

arithmetic      the numbers that the check computes with
definitions     losses, penalties and their conjugates, written down again from their formulas
certificates    P(w) rounded up and D(α) rounded down, and what they prove
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
