"""Downloads: each goes to a temporary file, is checked, and is then moved into place.

A checksum in the registry is enforced. If there is none, the contents of the first download are checked, and its SHA-256 is stored
next to it; later the file must match it (trust on first use).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TIMEOUT = 30  # seconds without data
CHUNK = 1 << 16
STALE = 86_400.0  # seconds after which temporary folders of killed processes are removed
INCOMING = ".incoming-"


class ChecksumError(ValueError):
    """A file does not have the expected checksum or contents."""


def home() -> Path:
    """The folder of downloads: ``datasets`` in ``$FENCHEL_HOME``, or in the user's cache directory."""
    import pooch

    return Path(os.environ.get("FENCHEL_HOME") or pooch.os_cache("fenchel")) / "datasets"


def fetch(url: str, target: Path, sha256: str | None, accept: Callable[[Path], Path], progress: bool, advice: str) -> Path:
    """Download ``url`` and store it as ``target`` if ``accept`` approves its contents.

    ``accept`` raises if the contents are wrong, and returns the file to keep: the same, or another in its folder.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(target.parent)
        folder = Path(tempfile.mkdtemp(prefix=INCOMING, dir=target.parent))
    except OSError as error:
        raise OSError(f"Downloads cannot be stored in {target.parent} ({error}): set FENCHEL_HOME to a folder you may write to.") from None
    try:
        kept = accept(download(url, folder / target.name, sha256, progress, advice))
        record(target).write_text(f"{file_digest(kept)}  {target.name}\n", encoding="ascii")
        os.replace(kept, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return target


def _remove_stale(folder: Path) -> None:
    for left in folder.glob(f"{INCOMING}*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > STALE:
                shutil.rmtree(left, ignore_errors=True)


def download(url: str, arrived: Path, sha256: str | None, progress: bool, advice: str) -> Path:
    """Stream ``url`` into the file ``arrived``; ``advice`` is what a user without a network can do, for the error message."""
    import pooch
    from requests.exceptions import RequestException

    try:
        with _bar(arrived.name, progress) as bar, arrived.open("wb") as file:
            # unchanged: otherwise a server may unpack a .gz file, which changes its checksum
            headers = {"Accept-Encoding": "identity"}
            pooch.HTTPDownloader(progressbar=bar, chunk_size=CHUNK, timeout=TIMEOUT, headers=headers)(url, file, None)
    except RequestException as error:
        raise ConnectionError(f"{url} could not be downloaded ({_reason(error)}): try again, or get it elsewhere and {advice}.") from None
    found = file_digest(arrived)
    if sha256 is not None and found != sha256:
        raise ChecksumError(f"{url} has the SHA-256 {found}, not {sha256}: it is not the expected file and was discarded.")
    return arrived


def _reason(error: Any) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}"
    return f"{type(error).__name__}: the connection failed or was interrupted"


@contextlib.contextmanager
def _bar(name: str, visible: bool) -> Iterator[Any]:
    if not visible:
        yield False
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("[bold]{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True)) as shown:
        yield _PoochBar(shown, shown.add_task(name, total=None))


class _PoochBar:
    """The progress bar interface of pooch, drawn by rich."""

    def __init__(self, shown: Any, task: Any) -> None:
        self.shown, self.task, self._total = shown, task, 0

    @property
    def total(self) -> int:
        return self._total

    @total.setter
    def total(self, size: int) -> None:
        self._total = size
        self.shown.update(self.task, total=size or None)

    def update(self, size: int) -> None:
        self.shown.advance(self.task, size)

    def reset(self) -> None:
        self.shown.update(self.task, completed=0)

    def close(self) -> None:
        pass


def record(file: Path) -> Path:
    """The file that stores the checksum of a downloaded file."""
    return file.with_name(f"{file.name}.sha256")


def recorded(file: Path) -> str | None:
    """The checksum stored when the file was downloaded, or None."""
    try:
        return record(file).read_text(encoding="ascii").split()[0]
    except (OSError, IndexError, UnicodeDecodeError):
        return None


def file_digest(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
