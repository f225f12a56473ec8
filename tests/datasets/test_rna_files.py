"""RNA files: a round trip restores records, errors name file and line, and malicious archives do no harm."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from fenchel.datasets import RnaRecord, make_rna, read_bpseq, read_dbn, read_rna, write_dbn
from fenchel.datasets.decompression import LIMITS, Limit

DATA = Path(os.environ.get("FENCHEL_DATA", ""), "structured")


def bpseq(record: RnaRecord) -> bytes:
    partners, opened = [0] * len(record.sequence), []
    for p, mark in enumerate(record.structure):
        if mark == "(":
            opened.append(p)
        elif mark == ")":
            q = opened.pop()
            partners[p], partners[q] = q + 1, p + 1
    return "".join(f"{p + 1} {base} {q}\n" for p, (base, q) in enumerate(zip(record.sequence, partners, strict=True))).encode()


def planted() -> list[RnaRecord]:
    sequences, structures = make_rna(3, length=30)
    return [RnaRecord(f"rna{k}", *both) for k, both in enumerate(zip(sequences, structures, strict=True))]


def pack(path: Path, members: dict[str, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return path


@pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".bz2"])
def test_a_round_trip_through_dot_bracket_files_restores_records(tmp_path, ending):
    write_dbn(tmp_path / f"a.dbn{ending}", planted())
    assert read_dbn(tmp_path / f"a.dbn{ending}") == planted()


@given(st.lists(st.tuples(st.text("ab c", max_size=5), st.text("ACGUN", min_size=1, max_size=9)), max_size=5))
@settings(max_examples=30, deadline=None)
def test_arbitrary_names_and_sequences_are_read(rows):
    text = "".join(f">{name}\n{sequence}\n{'.' * len(sequence)}\n" for name, sequence in rows)
    assert read_dbn(io.BytesIO(text.encode())) == [(name.strip(), sequence, "." * len(sequence)) for name, sequence in rows]


@pytest.mark.parametrize("form", ["folder", "a.tar", "a.tar.gz", "a.tar.xz", "single"])
def test_bpseq_is_read_from_files_folders_and_archives(tmp_path, form):
    files = {f"{record.name}.bpseq": bpseq(record) for record in planted()}
    if form == "folder":
        for name, text in files.items():
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text))
        assert read_bpseq(tmp_path) == planted()
    elif form == "single":
        (tmp_path / "rna0.bpseq").write_bytes(b"Filename: rna0\nOrganism: none\n\n" + files["rna0.bpseq"])
        assert read_bpseq(tmp_path / "rna0.bpseq") == planted()[:1]
    else:
        mode = {".gz": "w:gz", ".xz": "w:xz"}.get(Path(form).suffix, "w")
        assert read_bpseq(pack(tmp_path / form, {f"some/{name}": text for name, text in files.items()}, mode)) == planted()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"GGG\n...\n", "line 1: a record begins with '>'"),
        (b">a\nGGG\n...\n>b\nGG\n", "line 4: the file ends within this record"),
        (b">a\n\nGGG\n..\n", "line 4: 2 characters in the structure of 3 bases"),
        (b">a\nGG\xff\n...\n", "line 2: this is not plain text"),
        (lzma.compress(b">a\nGGG\n...\n" * 100)[:-30], "damaged or cut short"),
        (b">a\n" + b"G" * (1 << 20), "line 2: the line is too long"),
        (b">a\n" + b"G" * 50_001 + b"\n" + b"." * 50_001 + b"\n", "line 3: the sequence has more than 50,000 bases"),
        (b">a\nGGACC\n[(.])\n", r"line 3: '\[' at position 1 marks a pair of a pseudoknot"),
        (b">a\nGGACC\n(A.)a\n", r"line 3: 'A' at position 2 marks a pair of a pseudoknot"),
    ],
)
def test_errors_in_dot_bracket_files_are_reported_with_their_line(tmp_path, text, message):
    (tmp_path / "wrong.dbn").write_bytes(text)
    with pytest.raises(ValueError, match=f"wrong.dbn, {message}" if message.startswith("line") else message):
        read_dbn(tmp_path / "wrong.dbn")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 G 0\n3 A 0\n", "line 2: position 3 follows 1"),
        (b"1 G 0\n2 A\n", "line 2: '2 A' is not of the form"),
        (b"1 G 0\n2 A 99999999999999999999\n", "line 2: .* is not of the form"),
        (b"nothing here\n", "has no line of the form"),
        (b"1 G 3\n2 A 4\n3 C 1\n4 U 2\n", "position 3: its pair with 1 crosses another"),
        (b"1 G 3\n2 A 0\n3 C 0\n", "position 1: it pairs with 3, which does not pair with 1"),
        (b"1 G 0\n2 A 2\n3 C 0\n", "position 2: it pairs with itself"),
        (b"1 G 0\n" + b"9" * 5000 + b" A 0\n", "line 2: .* is not of the form"),
        (b"".join(b"%d A 0\n" % p for p in range(1, 50_002)), "line 50001: the sequence has more than 50,000 bases"),
    ],
)
def test_errors_in_bpseq_files_are_reported_with_their_line(tmp_path, text, message):
    (tmp_path / "wrong.bpseq").write_bytes(text)
    with pytest.raises(ValueError, match=f"wrong.bpseq.*{message}"):
        read_bpseq(tmp_path / "wrong.bpseq")


def test_crossing_pairs_can_be_left_out(tmp_path):
    (tmp_path / "knot.bpseq").write_bytes(b"1 G 4\n2 A 5\n3 A 0\n4 C 1\n5 U 2\n6 G 9\n7 A 0\n8 A 0\n9 C 6\n")
    with pytest.raises(ValueError, match="crosses another"):
        read_bpseq(tmp_path / "knot.bpseq")
    [record] = read_bpseq(tmp_path / "knot.bpseq", drop_crossing=True)
    assert record.structure in {"(..).(..)", ".(..)(..)"}
    (tmp_path / "wrong.bpseq").write_bytes(b"1 G 3\n2 A 0\n3 C 0\n")
    with pytest.raises(ValueError, match="does not pair with"):
        read_bpseq(tmp_path / "wrong.bpseq", drop_crossing=True)


def test_only_ordinary_files_of_an_archive_are_read_and_none_is_written(tmp_path):
    path = tmp_path / "hostile.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("link.bpseq")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        text = bpseq(planted()[0])
        info = tarfile.TarInfo("../../outside.bpseq")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text))
    assert [record.name for record in read_bpseq(path)] == ["outside"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["hostile.tar"]


def test_files_that_are_not_archives_or_contain_no_bpseq_are_refused(tmp_path):
    (tmp_path / "no.tar").write_bytes(b"hello" * 500)
    with pytest.raises(ValueError, match=r"no.tar is damaged or not a tar archive"):
        read_bpseq(tmp_path / "no.tar")
    with pytest.raises(ValueError, match=r"empty.tar has no .bpseq files"):
        read_bpseq(pack(tmp_path / "empty.tar", {"a.txt": b""}))
    with pytest.raises(FileNotFoundError, match=r"no .bpseq files"):
        read_bpseq(tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_bpseq(tmp_path / "absent.bpseq")


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(LIMITS, "rna", Limit(10_000, 30))
    for members in ({"a.txt": bytes(100_000)}, {f"{k}.txt": b"" for k in range(200)}):  # headers alone take memory too
        with pytest.raises(ValueError, match="would expand"):
            read_bpseq(pack(tmp_path / "bomb.tar.xz", members, "w:xz"))


@pytest.mark.slow
@pytest.mark.parametrize("text", [b">a\nAC\n", b">a\n" + b"\n" * 500, b">a\nA\n.\n"])
def test_small_files_that_unpack_to_too_much_are_refused_with_little_memory(tmp_path, text, monkeypatch):
    monkeypatch.setitem(LIMITS, "rna", Limit(1 << 19, 30))  # an eighth of its value, because tracing memory is slow
    (tmp_path / "bomb.fa.gz").write_bytes(gzip.compress(text * (1 + (1 << 21) // len(text))))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"bomb.fa.gz.*(would expand|has no sequence)"):
        read_rna(tmp_path / "bomb.fa.gz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 25e6


def test_a_long_sequence_of_many_short_lines_is_refused_with_little_memory(tmp_path):
    (tmp_path / "long.fa").write_bytes(b">a\n" + b"AC\n" * 1_000_000)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"long.fa, line 25002: the sequence has more than 50,000 bases"):
        read_rna(tmp_path / "long.fa")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6


@pytest.mark.parametrize("read", [read_rna, read_dbn])
def test_names_may_be_unicode_and_files_may_begin_with_a_byte_order_mark(tmp_path, read):
    (tmp_path / "a.dbn").write_bytes("\ufeff>tRNA-Île é\nGGAACC\n((..))\n".encode())
    assert read(tmp_path / "a.dbn") == [("tRNA-Île é", "GGAACC", "((..))")]
    (tmp_path / "b.fa").write_bytes("\ufeff>ß\nGG\nAA\n".encode())
    assert read_rna(tmp_path / "b.fa") == [("ß", "GGAA", "")]


@pytest.mark.parametrize("structure", ["[.((..])).", "{.((..})).", "<.((..>)).", "A.((..a))."])
def test_pseudoknots_are_refused_or_left_out(tmp_path, structure):
    (tmp_path / "knot.dbn").write_text(f">a\nACGU\n(..)\n>b\nGGGGAAACCC\n{structure} (-3.10)\n")
    for read in (read_rna, read_dbn):
        with pytest.raises(ValueError, match=r"knot.dbn, line 6: .* a pair of a pseudoknot"):
            read(tmp_path / "knot.dbn")
        assert read(tmp_path / "knot.dbn", drop_crossing=True)[1].structure == "..((...))."


@pytest.mark.parametrize("structure", ["[.((..])).", "{.((..})).", "<.((..>))."])
def test_structures_may_begin_with_any_bracket(tmp_path, structure):
    (tmp_path / "knot.txt").write_text(f">b\nGGGGAAACCC\n{structure}\n")
    assert read_rna(tmp_path / "knot.txt", drop_crossing=True) == [("b", "GGGGAAACCC", "..((...)).")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is neither FASTA nor dot-bracket"),
        (b"GGG\n...\n", "is neither FASTA nor dot-bracket"),
        (b">a\n>b\nGG\n", ": a has no sequence"),
        (b">a\nGG\n>b\n", ": b has no sequence"),
        (b">a\nGG\nGG\n((..))\n", ", line 4: this is a structure"),
    ],
)
def test_errors_in_fasta_files_are_reported(tmp_path, text, message):
    (tmp_path / "wrong.fa").write_bytes(text)
    with pytest.raises(ValueError, match=f"wrong.fa{message}" if message[0] in ",:" else message):
        read_rna(tmp_path / "wrong.fa")


def test_invalid_records_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="a record needs"):
        write_dbn(tmp_path / "a.dbn", [("a", "GGG", "..")])
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not (DATA / "rna_s151rfam.dbn.xz").exists(), reason="FENCHEL_DATA has no S-151")
def test_both_formats_of_s151_hold_the_same_records():
    one = {record.name.split()[0]: record[1:] for record in read_dbn(DATA / "rna_s151rfam.dbn.xz")}
    two = {record.name: record[1:] for record in read_bpseq(DATA / "rna_s151rfam_bpseq.tar.xz")}
    assert len(one) == 151
    assert one == two
