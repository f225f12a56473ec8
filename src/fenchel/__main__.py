"""``python -m fenchel`` is the command line."""

from fenchel.cli import app

app(prog_name="fenchel")
