"""Experiments of the command line: the demo, and inverse time dependency."""
