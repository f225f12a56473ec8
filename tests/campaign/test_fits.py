"""A fixed part of the campaign of fits, without its clock."""

from __future__ import annotations

import pytest

from tests.campaign.fits import CLASSIFIERS, REGRESSORS, case, fitted


@pytest.mark.slow
def test_fits_raise_nothing_and_warn_only_where_scikit_learn_does():
    failures = []
    for k in range(60):
        chosen = case(0, k, largest=300)
        _, warned = fitted(chosen, ours=True)
        if warned and not fitted(chosen, ours=False)[1]:
            failures.append((k, str(chosen), warned))
    assert failures == []


def test_every_class_is_drawn():
    assert {case(0, k, largest=50).name for k in range(200)} == {*CLASSIFIERS, *REGRESSORS}
