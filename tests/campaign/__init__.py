"""Random attacks on the package for a given time: ``python -m tests.campaign``."""
