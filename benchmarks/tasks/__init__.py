"""The tasks of ``benchmarks/structured.py``, one file each with a function ``run()`` that prints a table."""
