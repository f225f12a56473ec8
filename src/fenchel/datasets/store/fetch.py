"""Downloads: to a temporary file, checked, then put in place whole or not at all.

A checksum that the registry states is enforced. Where it states none, the first download is judged by its contents, and its
SHA-256 is written beside it: from then on the file must stay what it was (trust on first use).
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

TIMEOUT = 30  # seconds without a byte
CHUNK = 1 << 16
STALE = 86_400.0  # seconds after which what a killed process left behind is swept away


INCOMING = ".incoming-"


class ChecksumError(ValueError):
    """A file is not the one it should be."""


def home() -> Path:
    """Where downloads are kept: ``datasets`` in ``$FENCHEL_HOME``, or in the user's cache directory."""
    import pooch

    return Path(os.environ.get("FENCHEL_HOME") or pooch.os_cache("fenchel")) / "datasets"


def fetch(url: str, target: Path, sha256: str | None, accept: Callable[[Path], Path], progress: bool, advice: str) -> Path:
    """The file at ``url``, kept as ``target`` once ``accept`` has let it pass.

    ``accept`` raises if the contents are wrong, and returns the file to keep: the same, or another in its folder.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target.parent)
        folder = Path(tempfile.mkdtemp(prefix=INCOMING, dir=target.parent))
    except OSError as error:
        raise OSError(f"Downloads can't be kept in {target.parent} ({error}): set FENCHEL_HOME to a folder you may write to.") from None
    try:
        kept = accept(download(url, folder / target.name, sha256, progress, advice))
        record(target).write_text(f"{file_digest(kept)}  {target.name}\n", encoding="ascii")
        os.replace(kept, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return target


def _sweep(folder: Path) -> None:
    for left in folder.glob(f"{INCOMING}*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > STALE:
                shutil.rmtree(left, ignore_errors=True)


def download(url: str, arrived: Path, sha256: str | None, progress: bool, advice: str) -> Path:
    """Stream ``url`` into the file ``arrived``; ``advice`` tells a user without a network what to do."""
    import pooch
    from requests.exceptions import RequestException

    try:
        with _bar(arrived.name, progress) as bar, arrived.open("wb") as file:
            # as it is there: a server may else unpack a .gz on the way, and its checksum with it
            headers = {"Accept-Encoding": "identity"}
            pooch.HTTPDownloader(progressbar=bar, chunk_size=CHUNK, timeout=TIMEOUT, headers=headers)(url, file, None)
    except RequestException as error:
        raise ConnectionError(f"{url} could not be fetched ({_reason(error)}): try again, or get it elsewhere and {advice}.") from None
    found = file_digest(arrived)
    if sha256 is not None and found != sha256:
        raise ChecksumError(f"{url} has the SHA-256 {found}, not {sha256}: it is not the file fenchel knows, and was not kept.")
    return arrived


def _reason(error: Any) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answers {response.status_code} {response.reason}"
    return f"{type(error).__name__}: the connection failed or broke off"


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
    """What pooch asks of a progress bar, drawn by rich."""

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
    """Where the checksum of a downloaded file is kept."""
    return file.with_name(f"{file.name}.sha256")


def recorded(file: Path) -> str | None:
    """The checksum written down when the file was downloaded."""
    try:
        return record(file).read_text(encoding="ascii").split()[0]
    except (OSError, IndexError, UnicodeDecodeError):
        return None


def file_digest(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
