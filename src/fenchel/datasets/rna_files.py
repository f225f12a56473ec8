"""RNA sequences with their structures: dot-bracket files (.dbn) and .bpseq files, plain, compressed or in a tar archive

A .dbn file has three lines per record: ">name", the sequence and the structure. A .bpseq file is one record, with a line
"position base partner" for each base; positions count from 1, and partner 0 means unpaired. Other lines before the first base are a
heading. Errors name the file and the line. Files are read line by line, and a compressed one that expands too much is refused.
"""

from __future__ import annotations

import itertools
import os
import re
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from fenchel.core.errors import Argument, InputError
from fenchel.core.messages import shortened
from fenchel.datasets.rna_lines import check_size, every_line, full_lines
from fenchel.datasets.rna_notation import checked_partners, dot_bracket, partners_of, without_crossing
from fenchel.datasets.text_files import DAMAGE, MAGIC, gist, name_of, open_binary, writing

UNREADABLE = (*DAMAGE, tarfile.TarError, OverflowError, ValueError)  # the last two for numbers in headers of tar archives
LONGEST_HEADER = 1 << 13  # bytes of an extended header, which holds names; some versions of Python take time quadratic in it
EXTENDED = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
MARKS = ".([{<"  # characters that a structure may begin with
KNOTS = re.compile(r"[\[\]{}<>A-Za-z]")
BASE = re.compile(r"([0-9]{1,9})\s+(\S)\s+([0-9]{1,9})")


class RnaRecord(NamedTuple):
    """An RNA with its secondary structure, a dot-bracket string of the same length."""

    name: str
    sequence: str
    structure: str


def read_rna(path: str | os.PathLike[str], *, drop_crossing: bool = False, max_bytes: int | None = None) -> list[RnaRecord]:
    """Read RNA from a .bpseq file, a folder or tar archive of them, a dot-bracket file, or a FASTA file, whose structures are empty.

    Pseudoknots are refused; with ``drop_crossing`` their pairs are left out as in :func:`read_dbn` and :func:`read_bpseq`. A compressed
    file may expand to ``max_bytes``, by default to the larger of 4 MiB and 30 times its size.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.fasta").write_text(">one\\nGGGA\\nAACCC\\n>two\\nGAAAC\\n")
    ...     [record.sequence for record in read_rna(Path(folder, "a.fasta"))]
    ['GGGAAACCC', 'GAAAC']
    """
    place, name = Path(path), os.fspath(path)
    if place.is_dir() or is_tar(place) or _stem(place.name) is not None:
        return read_bpseq(place, drop_crossing=drop_crossing, max_bytes=max_bytes)
    with open_binary(place, "rna", max_bytes) as (file, _):
        lines = full_lines(file, name)
        first = list(itertools.islice(lines, 3))
        every = itertools.chain(first, lines)
        marked = len(first) == 3 and first[2][1][0] in MARKS
        return list(_dot_brackets(every, name, drop_crossing)) if marked else _fasta(every, name)


def _fasta(lines: Iterable[tuple[int, str]], place: str) -> list[RnaRecord]:
    """Names and sequences, which may extend over several lines."""
    made: list[RnaRecord] = []
    for titles, group in itertools.groupby(lines, key=lambda numbered: numbered[1].startswith(">")):
        if titles:
            for _, title in group:
                _check_filled(made, place)
                made.append(RnaRecord(title[1:].strip(), "", ""))
        elif made:
            made[-1] = made[-1]._replace(sequence=_joined(group, place))
        else:
            break
    if not made:
        raise InputError(f"{place} is neither FASTA nor dot-bracket: a record begins with '>' and its name.")
    _check_filled(made, place)
    return made


def _check_filled(made: list[RnaRecord], place: str) -> None:
    if made and not made[-1].sequence:
        raise InputError(f"{place}: {shortened(made[-1].name)} has no sequence: add it or remove the record.")


def _joined(lines: Iterable[tuple[int, str]], place: str) -> str:
    parts, size = [], 0
    for number, line in lines:
        if line[0] in MARKS:
            raise InputError(f"{place}, line {number}: this is a structure; give every record a structure on one line, or none.")
        parts.append(line)
        size += len(line)
        check_size(size, place, number)
    return "".join(parts)


def is_tar(path: Path) -> bool:
    """Whether the file is a tar archive, according to its name."""
    return ".tar" in path.suffixes or path.suffix in (".tgz", ".txz")


def read_dbn(path: str | os.PathLike[str] | IO[bytes], *, drop_crossing: bool = False, max_bytes: int | None = None) -> list[RnaRecord]:
    """The records of a dot-bracket file, which may be compressed (.gz, .bz2, .xz).

    Brackets other than round ones, and letters, mark pairs of pseudoknots and are refused; ``drop_crossing`` leaves these pairs out.

    >>> import io
    >>> read_dbn(io.BytesIO(b">hairpin\\nGGGAAACCC\\n(((...)))\\n"))
    [RnaRecord(name='hairpin', sequence='GGGAAACCC', structure='(((...)))')]
    """
    place = name_of(path)
    with open_binary(path, "rna", max_bytes) as (file, _):
        return list(_dot_brackets(full_lines(file, place), place, drop_crossing))


def _dot_brackets(lines: Iterator[tuple[int, str]], place: str, drop_crossing: bool) -> Iterator[RnaRecord]:
    for number, title in lines:
        if not title.startswith(">"):
            raise InputError(f"{place}, line {number}: a record begins with '>' and its name, not with {title[:30]!r}.")
        (_, sequence), (last, marks) = next(lines, (0, "")), next(lines, (0, ""))
        if not marks:
            raise InputError(f"{place}, line {number}: the file ends within this record; add its sequence and structure.")
        structure = marks.split()[0]  # some programs write the energy after the structure
        if len(sequence) != len(structure):
            raise InputError(
                f"{place}, line {last}: {len(structure)} characters in the structure of {len(sequence)} bases; give one per base."
            )
        check_size(len(sequence), place, last)
        yield RnaRecord(title[1:].strip(), sequence, _without_knots(structure, place, last, drop_crossing))


def _without_knots(structure: str, place: str, number: int, drop_crossing: bool) -> str:
    knot = KNOTS.search(structure)
    if knot and not drop_crossing:
        raise InputError(
            f"{place}, line {number}: {knot[0]!r} at position {knot.start() + 1} marks a pair of a pseudoknot, which is not supported; "
            "read_rna and read_dbn leave such pairs out with ",
            Argument("drop_crossing", True),
            ".",
        )
    return KNOTS.sub(".", structure) if knot else structure


def write_dbn(path: str | os.PathLike[str], records: Iterable[RnaRecord | tuple[str, str, str]]) -> None:
    """Write records of name, sequence and structure as a dot-bracket file, compressed according to its ending.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_dbn(f"{folder}/a.dbn.gz", [("hairpin", "GGGAAACCC", "(((...)))")])
    ...     read_dbn(f"{folder}/a.dbn.gz")[0].sequence
    'GGGAAACCC'
    """
    with writing(path) as file:
        for name, sequence, structure in records:
            if len(sequence) != len(structure) or "\n" in name + sequence + structure or not sequence:
                raise InputError(f"{name!r}: a record needs a name on one line, a sequence, and a structure of the same length.")
            file.write(f">{name}\n{sequence}\n{structure}\n".encode())


def read_bpseq(path: str | os.PathLike[str], *, drop_crossing: bool = False, max_bytes: int | None = None) -> list[RnaRecord]:
    """The records of a .bpseq file, or of all .bpseq files in a folder or a tar archive, in the order of their names.

    Each record is named after its file. Files and archives may be compressed (.gz, .bz2, .xz); an archive is read without unpacking it
    to disk. Crossing pairs (pseudoknots), which a dot-bracket string cannot express, are refused; with ``drop_crossing`` pairs are left
    out, the one that crosses most others first, until none cross.

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
        return [_read_one(file, drop_crossing, max_bytes) for file in files]
    if is_tar(path):
        return sorted(_members(path, drop_crossing, max_bytes))
    return [_read_one(path, drop_crossing, max_bytes)]


def _stem(name: str) -> str | None:
    """The name of a .bpseq file without its endings; None for other files."""
    base = name.rsplit("/", 1)[-1]
    for ending in MAGIC.values():
        base = base.removesuffix(ending)
    return base.removesuffix(".bpseq") if base.endswith(".bpseq") else None


def _read_one(path: Path, drop_crossing: bool, max_bytes: int | None) -> RnaRecord:
    with open_binary(path, "rna", max_bytes) as (file, _):
        return _record(_stem(path.name) or path.name, every_line(file, os.fspath(path)), os.fspath(path), drop_crossing)


class Member(tarfile.TarInfo):
    """A member of a tar archive, whose extended header is not too long."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: Any, errors: str) -> Member:
        """The member that a header describes."""
        found = super().frombuf(buf, encoding, errors)
        if found.type in EXTENDED and found.size > LONGEST_HEADER:
            raise tarfile.ReadError(f"a header of {found.size:,} bytes")
        return found


def _members(path: Path, drop_crossing: bool, max_bytes: int | None) -> Iterator[RnaRecord]:
    """The .bpseq members of a tar archive; links, devices, sparse files and other members that are not ordinary files are skipped."""
    found = 0
    with open_binary(path, "rna", max_bytes) as (file, _):
        try:
            with tarfile.open(fileobj=file, mode="r|", tarinfo=Member) as archive:
                for member in archive:
                    name, place = _stem(member.name), f"{path}, {member.name}"
                    if member.isreg() and not member.issparse() and name is not None:
                        found += 1
                        content = archive.extractfile(member)
                        yield _record(name, every_line(content, place), place, drop_crossing)
        except InputError:
            raise
        except UNREADABLE as error:
            raise InputError(f"{path} is damaged or not a tar archive ({gist(error)}): get the file again.") from None
    if not found:
        raise InputError(f"{path} has no .bpseq files: check the path.")


def _record(name: str, lines: Iterable[tuple[int, str]], place: str, drop_crossing: bool) -> RnaRecord:
    bases: list[str] = []
    partners: list[int] = []
    for number, line in lines:
        fields = line.split()
        if not bases and not (len(fields) == 3 and fields[0].isdecimal()):
            continue  # a heading
        if not fields:
            continue
        match = BASE.fullmatch(line)
        if match is None:
            raise InputError(f"{place}, line {number}: {line[:40]!r} is not of the form 'position base partner'.")
        if int(match[1]) != len(bases) + 1:
            raise InputError(f"{place}, line {number}: position {match[1]} follows {len(bases)}; positions must increase by one from 1.")
        bases.append(match[2])
        partners.append(int(match[3]) - 1)
        check_size(len(bases), place, number)
    if not bases:
        raise InputError(f"{place} has no line of the form 'position base partner': check what the file holds.")
    return RnaRecord(name, "".join(bases), _brackets(partners, place, drop_crossing))


def _brackets(partners: list[int], place: str, drop_crossing: bool) -> str:
    found: Any = partners
    if drop_crossing:
        pairs = checked_partners(np.array(partners), place, first=1)
        found = without_crossing([(p, q) for p, q in pairs.tolist() if p < q])
    return dot_bracket(partners_of(found, len(partners), place, first=1).tolist())
