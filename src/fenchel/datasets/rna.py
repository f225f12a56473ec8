"""RNA sequences with their structures: dot-bracket files (.dbn) and .bpseq files, plain, compressed or in a tar

A .dbn file has a line ">name", a line with the sequence and one with the structure for each record. A .bpseq file is one record, a
line "position base partner" for each base, positions counting from 1 and 0 for no partner; lines of other kinds before them are a heading.
Errors name the file and the line.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from fenchel.datasets.bounds import Bounded
from fenchel.datasets.files import DAMAGE, MAGIC, name_of, open_binary, writing

LONGEST_LINE = 1 << 20
MOST_BYTES = 1 << 28  # of text in one file, or in all members of a tar: a thousand times the usual sets
UNREADABLE = (*DAMAGE, tarfile.TarError)


class RnaRecord(NamedTuple):
    """An RNA with its secondary structure, a dot-bracket string of the same length."""

    name: str
    sequence: str
    structure: str


def read_rna(path: str | os.PathLike[str]) -> list[RnaRecord]:
    """RNA from a file of any kind: .bpseq files, folders and tars of them, else dot-bracket or FASTA, whose structures are empty.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.fasta").write_text(">one\\nGGGA\\nAACCC\\n>two\\nGAAAC\\n")
    ...     [record.sequence for record in read_rna(Path(folder, "a.fasta"))]
    ['GGGAAACCC', 'GAAAC']
    """
    place = Path(path)
    if place.is_dir() or is_tar(place) or _stem(place.name) is not None:
        return read_bpseq(place)
    with open_binary(place) as (file, _):
        lines = [line for _, line in _lines(file, os.fspath(path)) if line]
    marked = any(line[0] in ".(" and not line.startswith(">") for line in lines)
    return read_dbn(place) if marked else _fasta(lines, os.fspath(path))


def _fasta(lines: list[str], place: str) -> list[RnaRecord]:
    """Names and sequences, which may go over several lines."""
    if not lines or not lines[0].startswith(">"):
        raise ValueError(f"{place} is neither FASTA nor dot-bracket: a record begins with '>' and its name.")
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith(">"):
            found.append((line[1:].strip(), []))
        else:
            found[-1][1].append(line)
    empty = next((name for name, parts in found if not parts), None)
    if empty is not None:
        raise ValueError(f"{place}: {empty} has no sequence.")
    return [RnaRecord(name, "".join(parts), "") for name, parts in found]


def is_tar(path: Path) -> bool:
    """Whether the name is that of an archive."""
    return ".tar" in path.suffixes or path.suffix in (".tgz", ".txz")


def read_dbn(path: str | os.PathLike[str] | IO[bytes]) -> list[RnaRecord]:
    """The records of a dot-bracket file, which may be compressed (.gz, .bz2, .xz).

    >>> import io
    >>> read_dbn(io.BytesIO(b">hairpin\\nGGGAAACCC\\n(((...)))\\n"))
    [RnaRecord(name='hairpin', sequence='GGGAAACCC', structure='(((...)))')]
    """
    place = name_of(path)
    with open_binary(path) as (file, _):
        lines = [(number, line) for number, line in _lines(file, place) if line]
    records = []
    for k in range(0, len(lines), 3):
        number, title = lines[k]
        if not title.startswith(">"):
            raise ValueError(f"{place}, line {number}: a record begins with '>' and its name, not with {title[:30]!r}.")
        if k + 2 >= len(lines):
            raise ValueError(f"{place}, line {number}: the file ends within this record; it needs a sequence and a structure.")
        sequence, structure = lines[k + 1][1], lines[k + 2][1].split()[0]  # programs write energies behind structures
        if len(sequence) != len(structure):
            raise ValueError(f"{place}, line {lines[k + 2][0]}: {len(structure)} marks for a sequence of {len(sequence)} bases.")
        records.append(RnaRecord(title[1:].strip(), sequence, structure))
    return records


def write_dbn(path: str | os.PathLike[str], records: Iterable[RnaRecord | tuple[str, str, str]]) -> None:
    """Write records of name, sequence and structure as a dot-bracket file, compressed as its name says.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_dbn(f"{folder}/a.dbn.gz", [("hairpin", "GGGAAACCC", "(((...)))")])
    ...     read_dbn(f"{folder}/a.dbn.gz")[0].sequence
    'GGGAAACCC'
    """
    with writing(path) as file:
        for name, sequence, structure in records:
            if len(sequence) != len(structure) or "\n" in name + sequence + structure or not sequence:
                raise ValueError(f"{name!r}: a record needs a name in one line, a sequence, and a structure of the same length.")
            file.write(f">{name}\n{sequence}\n{structure}\n".encode())


def read_bpseq(path: str | os.PathLike[str], *, drop_crossing: bool = False) -> list[RnaRecord]:
    """The records of a .bpseq file, of all .bpseq files in a folder, or of those in a tar, in the order of their names.

    Each is named after its file. Files and tars may be compressed (.gz, .bz2, .xz); a tar is read in place, and nothing of it
    is written to the disk. Pairs that cross (pseudoknots), which a dot-bracket string cannot tell, are refused; with ``drop_crossing``
    those that cross most others are left out.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.bpseq").write_text("1 G 5\\n2 A 0\\n3 A 0\\n4 A 0\\n5 C 1\\n")
    ...     read_bpseq(folder)
    [RnaRecord(name='a', sequence='GAAAC', structure='(...)')]
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if _stem(file.name) is not None and file.is_file())
        if not files:
            raise FileNotFoundError(f"{path} has no .bpseq files: check the path.")
        return [_read_one(file, drop_crossing) for file in files]
    if is_tar(path):
        return sorted(_members(path, drop_crossing))
    return [_read_one(path, drop_crossing)]


def _stem(name: str) -> str | None:
    """The name of a .bpseq file without its endings; None for other files."""
    base = name.rsplit("/", 1)[-1]
    for ending in MAGIC.values():
        base = base.removesuffix(ending)
    return base.removesuffix(".bpseq") if base.endswith(".bpseq") else None


def _read_one(path: Path, drop_crossing: bool) -> RnaRecord:
    with open_binary(path) as (file, _):
        return _record(_stem(path.name) or path.name, file, os.fspath(path), drop_crossing)


def _members(path: Path, drop_crossing: bool) -> Iterator[RnaRecord]:
    """The .bpseq members of a tar; links, devices and whatever else is no ordinary file are passed over."""
    total = found = 0
    with open_binary(path) as (file, _):
        try:
            with tarfile.open(fileobj=Bounded(file, path), mode="r|") as archive:
                for member in archive:
                    name = _stem(member.name)
                    total += member.size
                    if total > MOST_BYTES:
                        raise ValueError(f"{path}: it unpacks to more than {MOST_BYTES:,} bytes: unpack it yourself if you trust it.")
                    if member.isreg() and name is not None:
                        found += 1
                        yield _record(name, archive.extractfile(member), f"{path}, {member.name}", drop_crossing)
        except UNREADABLE as error:
            raise ValueError(f"{path} is damaged or no tar ({error}): get the file again.") from None
    if not found:
        raise ValueError(f"{path} has no .bpseq files: check the path.")


def _record(name: str, file: Any, place: str, drop_crossing: bool) -> RnaRecord:
    bases: list[str] = []
    partners: list[int] = []
    for number, line in _lines(file, place):
        fields = line.split()
        if not bases and not (len(fields) == 3 and fields[0].isdecimal()):
            continue  # a heading
        if not fields:
            continue
        if len(fields) != 3 or not (fields[0].isdecimal() and fields[2].isdecimal() and len(fields[1]) == 1 and len(fields[2]) < 10):
            raise ValueError(f"{place}, line {number}: {line[:40]!r} is not of the form 'position base partner'.")
        if int(fields[0]) != len(bases) + 1:
            raise ValueError(f"{place}, line {number}: position {fields[0][:20]} follows {len(bases)}; positions go up by one from 1.")
        bases.append(fields[1])
        partners.append(int(fields[2]) - 1)
    if not bases:
        raise ValueError(f"{place}: there is no line of the form 'position base partner'.")
    return RnaRecord(name, "".join(bases), _brackets(partners, place, drop_crossing))


def _brackets(partners: list[int], place: str, drop_crossing: bool) -> str:
    from fenchel.structured.rna.structures import checked_partners, dot_bracket, partners_of, without_crossing

    found: Any = partners
    if drop_crossing:
        pairs = checked_partners(np.array(partners), place)
        found = without_crossing([(p, q) for p, q in pairs.tolist() if p < q])
    return dot_bracket(partners_of(found, len(partners), place).tolist())


def _lines(file: Any, place: str) -> Iterator[tuple[int, str]]:
    """The lines, stripped, with their numbers from 1."""
    number = seen = 0
    try:
        while line := file.readline(LONGEST_LINE):
            number, seen = number + 1, seen + len(line)
            if len(line) == LONGEST_LINE or seen > MOST_BYTES:
                raise ValueError(f"{place}, line {number}: the file or its line is too long for RNA: check what it holds.")
            yield number, line.decode("ascii").strip()
    except UnicodeDecodeError:
        raise ValueError(f"{place}, line {number}: this is no plain text: check what the file holds.") from None
    except DAMAGE as error:
        raise ValueError(f"{place}, line {number + 1}: the data is damaged or cut short ({error}): get the file again.") from None
