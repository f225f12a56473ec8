"""``python -m tests.campaign [PART ...] [--seconds S] [--seed N] [--keep DIR]``: run the parts in turn and print their counts."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

PARTS = ("problems", "files", "interruptions", "kills", "fits")


def main() -> int:
    """Run the parts asked for; 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description="Attack fenchel at random, and count what breaks.")
    parser.add_argument("parts", nargs="*", default=PARTS, metavar="PART", help=f"which of {', '.join(PARTS)} (all)")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each part (60)")
    parser.add_argument("--seed", type=int, default=0, help="of the random cases (0)")
    parser.add_argument("--keep", type=Path, default=Path("campaign"), help="where reproducers of failures go (campaign/)")
    given = parser.parse_args()
    unknown = [part for part in given.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}: choose from {', '.join(PARTS)}")
    failures = 0
    for part in given.parts:
        clock = time.perf_counter()
        counts = importlib.import_module(f"tests.campaign.{part}").run(given.seconds, given.seed, given.keep / part)
        print(f"{part}, seed {given.seed}, {time.perf_counter() - clock:.0f} s")
        for name, count in counts.items():
            print(f"  {count:9,}  {name}")
            failures += 0 if name.startswith("cases") else count
    print("nothing failed" if failures == 0 else f"{failures:,} failures: see {given.keep}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
