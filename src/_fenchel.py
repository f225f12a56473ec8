"""The program ``fenchel``: beside the package, so that Ctrl-C in the second that importing it takes ends quietly."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from fenchel.cli import app

        app(prog_name="fenchel")
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
