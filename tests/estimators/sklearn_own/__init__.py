"""scikit-learn's own tests, run against fenchel's estimators of the same names; ``skips.py`` lists which are skipped, and why."""
