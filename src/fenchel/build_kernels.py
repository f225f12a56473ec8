"""``python -m fenchel.build_kernels``: a wheel for this platform that contains machine code, so that nothing compiles on users' computers

The kernels that typical calls use (:mod:`fenchel.warmup`) are compiled for every level of this platform's processors and added to a
wheel of the package without them. Machine code depends on the versions of Python and Numba; where they differ, users' computers compile.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from fenchel.core.atomic_files import replacing
from fenchel.core.cpu_levels import levels, levels_of_host
from fenchel.core.kernel_archive import SHIPPED
from fenchel.core.kernel_cache import hash_of, source_hash
from fenchel.warmup import compilation


def main() -> int:
    """Build the wheel, or write the kernels to a folder."""
    parser = argparse.ArgumentParser(prog="python -m fenchel.build_kernels", description=(__doc__ or "").partition("\n")[0])
    source = "the wheel without machine code, or the folder of its sources (.)"
    parser.add_argument("pure", nargs="?", type=Path, default=Path(), help=source)
    parser.add_argument("--out", type=Path, default=Path("dist"), help="the folder of the new wheel (dist)")
    parser.add_argument("--level", action="append", choices=list(levels()), help="a level of processors; may be given again (all)")
    parser.add_argument("--common", action="store_true", help="only the kernels of estimators with default parameters")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="that compile at the same time (one for each core)")
    parser.add_argument("--in-place", action="store_true", help="write the kernels into the package that runs this, and build no wheel")
    given = parser.parse_args()
    if not levels_of_host():
        parser.error("there are no levels for this computer's kind of processor.")
    with tempfile.TemporaryDirectory() as work:
        folder = Path(__file__).parent / SHIPPED if given.in_place else Path(work) / SHIPPED
        pure = None if given.in_place else pure_wheel(given.pure, Path(work))
        if pure is not None and sources_in(pure) != source_hash():
            parser.error(
                f"{pure} has other sources than the package that runs this: install it first, or give the folder it is installed from."
            )
        files = built(folder, given.level or list(levels()), given.common, given.processes)
        if pure is not None:
            files = [with_kernels(pure, files, given.out)]
    Console(stderr=True).print("\n".join(f"Wrote {file}: {file.stat().st_size / 1e6:.1f} MB." for file in files), highlight=False)
    return 0


def pure_wheel(source: Path, work: Path) -> Path:
    """The wheel given, or one built from the sources in a folder."""
    if source.suffix == ".whl":
        return source
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", str(work), str(source)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return next(work.glob("*.whl"))


def sources_in(wheel: Path) -> str:
    """What :func:`source_hash` will be once the wheel is installed."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("fenchel/") and name.endswith(".py")]
        return hash_of((name.removeprefix("fenchel/"), archive.read(name)) for name in names)


def built(folder: Path, chosen: list[str], common: bool, processes: int) -> list[Path]:
    """The files of kernels, one for each level."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("typical calls", total=None)
        kernels = compilation.recorded(common, next((level for level in chosen if level in levels_of_host()), None))
        bar.update(task, completed=len(kernels), total=len(kernels))
        files = []
        for level in chosen:
            task = bar.add_task(level, total=len(kernels))
            code: dict[str, bytes] = {}
            for entry in compilation.machine_code(kernels, level, processes):
                code.update([entry] if entry is not None else [])
                bar.advance(task)
            files.append(compilation.write(folder, level, code))
    return files


def with_kernels(pure: Path, files: list[Path], out: Path) -> Path:
    """The wheel with the files of kernels in the package, named for this platform and version of Python."""
    distribution, version, *_ = pure.stem.split("-")
    python, platform = f"cp{sys.version_info.major}{sys.version_info.minor}", platform_tag()
    out.mkdir(parents=True, exist_ok=True)
    made, info = out / f"{distribution}-{version}-{python}-{python}-{platform}.whl", f"{distribution}-{version}.dist-info"
    with replacing(made) as temporary, zipfile.ZipFile(pure) as old, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as new:
        contents = {name: old.read(name) for name in old.namelist() if name != f"{info}/RECORD"}
        lines = [line for line in contents[f"{info}/WHEEL"].decode().splitlines() if not line.startswith(("Tag:", "Root-Is-Purelib:"))]
        lines = [line for line in lines if line] + ["Root-Is-Purelib: false", f"Tag: {python}-{python}-{platform}"]
        contents[f"{info}/WHEEL"] = ("\n".join(lines) + "\n").encode()
        contents |= {f"fenchel/{SHIPPED}/{file.name}": file.read_bytes() for file in files}
        record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in contents.items())
        contents[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6])
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            new.writestr(entry, content)
    return made


def platform_tag() -> str:
    """The platform that machine code runs on, as wheels name it; machine code needs nothing of the C library but its functions' names."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def digest(content: bytes) -> str:
    """The checksum of a file in a wheel."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    sys.exit(main())
