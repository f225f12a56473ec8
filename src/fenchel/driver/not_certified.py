"""The warning that a result is not certified, in a module of its own because scikit-learn takes longer to import than fenchel"""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from fenchel.core.errors import MessageWithArguments


class NotCertifiedWarning(MessageWithArguments, ConvergenceWarning):
    """A run ended with a gap above its tolerance."""
