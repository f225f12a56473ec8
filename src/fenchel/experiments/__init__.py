"""Experiments that the command line runs: the demo, and inverse time dependency."""
