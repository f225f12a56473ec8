"""Random attacks on everything that fenchel promises: ``python -m tests.campaign``

Each part draws its cases from a seed, so that case k of seed s is the same everywhere, counts them, and keeps a reproducer of every
failure. A small, fixed part of each runs in the test suite.
"""
