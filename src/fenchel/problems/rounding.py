"""How far rounding can take a computed objective or bound from its exact value

The unit roundoff of float64 is u = 2⁻⁵³. A sum of k products, added in any order, is off by at most γ_k = ku/(1 − ku) times the sum of
their absolute values (Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, sections 3.1 and 4.2); a compensated sum by
2u of its absolute value plus a term of order u². From these, for data X, y and r_i = s_i/m that are exactly the floats stored,

    |fl(X·w) − X·w|_i   ≤  γ_n Σ_j |x_ij||w_j|     ≤  γ_n Σ_j M_j|w_j|,          M_j = max_i |x_ij|
    |fl(Xᵀrα) − Xᵀrα|_j ≤  γ_{m+1} Σ_i |r_i α_i x_ij| ≤  γ_{m+1} M_j Σ_i |r_i α_i|

so that one number M_j for each column bounds the error of every product. φ and φ* are convex, and so is Ω*: the largest value within an
interval is at one of its ends. The objective is evaluated there for an upper bound on P(w), the conjugate Ω* for an upper bound on
Ω*(v). One term of a sum is a few operations, each rounded once: OPERATIONS·u of its size covers them, where the size of a term
includes what cancels in it, such as αy in φ*(−α) = −αy + α²/2.

The denominator of γ_k, products of small terms and the rounding of the allowances themselves are covered by 1%, for k < 10¹³.
"""

from __future__ import annotations

from fenchel.core.numeric import EPSILON

UNIT_ROUNDOFF = 0.5 * EPSILON
OPERATIONS = 16  # roundings in one term of a sum, at most; an elementary function counts as two
SMALLEST = 5e-324  # the rounding of a product that underflows


def relative_error(terms: int) -> float:
    """A bound on the error of a sum of so many products, relative to the sum of their absolute values.

    >>> relative_error(1000) < 3e-13
    True
    """
    return 1.01 * (terms + OPERATIONS) * UNIT_ROUNDOFF


def underflow(terms: int, size: float) -> float:
    """A bound on what so many terms lose where they are too small for a float; nothing is lost where all of them are 0.

    >>> underflow(1000, 0.0), underflow(1000, 1.0) < 1e-300
    (0.0, True)
    """
    return 0.0 if size == 0.0 else terms * SMALLEST


TERM = relative_error(0)  #: the same for a compensated sum, whose error does not grow with its length
REPRESENTED = 4.0 * EPSILON  #: relative error of an entry of v that is scaled and moved to the end of its interval
COMPENSATED = 2.5 * EPSILON  #: the same where terms are products r_i α_i x_ij: two roundings of each, those of the sum, and one to spare
