"""``python -m fenchel`` runs the command-line interface."""

from _fenchel import main

main()
