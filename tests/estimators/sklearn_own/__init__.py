"""scikit-learn's own tests, run against the estimators here that have its names; ``skips.py`` says which are left out, and why."""
