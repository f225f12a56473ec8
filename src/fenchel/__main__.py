"""``python -m fenchel`` is the command line."""

from _fenchel import main

main()
