"""Named data sets: the registry is correct, downloads are complete or discarded, and errors are sentences."""

from __future__ import annotations

import bz2
import hashlib
import http.server
import lzma
import os
import threading
from pathlib import Path

import numpy as np
import pytest

import fenchel as fl
from fenchel.datasets.store import catalogue, fetch, lookup
from fenchel.datasets.store.catalogue import Entry, Split

ROWS = b"+1 1:0.5 3:2\n-1 2:1\n+1 3:1\n"
HERE = [(known.name, known.split) for known in fl.datasets.available() if known.where is not None]
BIG = {"covtype", "mnist", "news20", "sector", "rcv1sub.ccat", "rcv1sub.binary", "connect-4", "ijcnn1", "usps", "magic04s", "magic04d"}


class Site(http.server.BaseHTTPRequestHandler):
    """A server of files; the first ``broken`` answers are cut off half way."""

    files: dict[str, bytes] = {}
    broken = 0
    requests: list[str] = []

    def do_GET(self):
        type(self).requests.append(self.path)
        if self.path not in self.files:
            self.send_error(404)
            return
        body = self.files[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if type(self).broken:
            type(self).broken -= 1
            body = body[: len(body) // 2]
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A server, and an empty FENCHEL_HOME."""
    handler = type("ThisSite", (Site,), {"files": {}, "broken": 0, "requests": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv("FENCHEL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FENCHEL_DATA", str(tmp_path / "mine") + os.pathsep + str(tmp_path / "ours"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    handler.url = f"http://127.0.0.1:{server.server_port}"
    yield handler
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def register(monkeypatch):
    """Replace the registry by one with a single data set, ``toy``."""

    def add(layout="svmlight", task="binary", features=3, classes=2, **split):
        entry = Entry("toy", task, "", "", features, classes, layout, splits={"train": Split(**{"file": "toy", "rows": 3, **split})})
        monkeypatch.setattr(catalogue, "entries", lambda: {"toy": entry})
        return entry

    return add


def files_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.rglob("*") if file.is_file())


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@pytest.mark.parametrize(("name", "split"), [pytest.param(*key, marks=pytest.mark.slow if key[0] in BIG else ()) for key in HERE])
def test_local_data_sets_match_the_registry(name, split):
    entry = catalogue.find(name)
    if entry.layout not in catalogue.READABLE:
        assert fl.datasets.path(name, split=split).stat().st_size > 0
        with pytest.raises(ValueError, match=r"fenchel\.datasets\.path"):
            fl.datasets.load(name, split=split)
        return
    data = fl.datasets.load(name, split=split, download=False)
    assert data.X.shape == (entry.rows(split), entry.features)
    if entry.classes is not None:
        assert len(np.unique(data.y)) <= entry.classes
        assert len(np.unique(data.y)) == entry.classes or entry.task == "ranking"
    if entry.base is None:
        assert np.count_nonzero(data.X.data) == sum(part.nonzeros for part in entry.parts(split))
    if entry.task == "ranking":
        changes = np.count_nonzero(np.diff(data.qid)) + 1
        assert changes == len(np.unique(data.qid))  # the rows of a query are consecutive


@pytest.mark.skipif(not HERE, reason="there is no local data set: set FENCHEL_DATA")
def test_local_copies_have_the_registered_checksums():
    for name, split in HERE:
        for part in catalogue.find(name).parts(split):
            file = lookup._find_file(part.file)
            assert file.suffix != ".xz" or fetch.file_digest(file) == part.sha256_xz


def test_the_registry_is_complete():
    for entry in catalogue.entries().values():
        assert entry.task in {"binary", "multiclass", "regression", "ranking", "rna", "sequences", "grid", "text"}
        assert entry.splits
        assert entry.terms
        for split in entry.splits:
            for part in entry.parts(split):
                assert part.file
                assert part.url is None or part.url.startswith("https://")
                if entry.layout in catalogue.READABLE:
                    assert part.rows
                    assert entry.features
    papers = "a9a combined connect-4 covtype ijcnn1 mnist rcv1 real-sim w8a astro-ph duke arcene magic04 magic04s magic04d s151rfam mq2008"
    assert set(papers.split()) <= set(catalogue.entries())


@pytest.mark.parametrize("ending", ["", ".bz2"])
def test_a_download_is_stored_with_its_checksum_and_not_repeated(site, register, tmp_path, ending):
    body = bz2.compress(ROWS) if ending else ROWS
    site.files[f"/toy{ending}"] = body
    register(url=f"{site.url}/toy{ending}", sha256=sha256(body))
    X, y = fl.datasets.load("toy")
    assert X.shape == (3, 3)
    assert y.tolist() == [1.0, -1.0, 1.0]
    assert files_in(tmp_path) == [f"toy{ending}", f"toy{ending}.sha256"]
    again = fl.datasets.load("toy", verify=True)
    assert (again.X != X).nnz == 0
    assert len(site.requests) == 1
    listing = fl.datasets.available()[0]
    assert listing.where == tmp_path / "home" / "datasets" / f"toy{ending}"
    assert str(listing.where) in str(listing)


def test_a_progress_bar_is_shown_on_stderr(site, register, capfd):
    site.files["/toy"] = ROWS
    register(url=f"{site.url}/toy")
    fl.datasets.load("toy", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "toy" in err


def test_a_download_with_a_wrong_checksum_is_discarded(site, register, tmp_path):
    site.files["/toy"] = ROWS
    register(url=f"{site.url}/toy", sha256=sha256(b"another file"))
    with pytest.raises(fetch.ChecksumError, match=f"{sha256(ROWS)}.*was discarded"):
        fl.datasets.load("toy")
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(("fact", "value"), [("rows", 4), ("features", 2), ("classes", 3)])
def test_without_a_checksum_the_contents_must_match_the_registry(site, register, tmp_path, fact, value):
    site.files["/toy"] = ROWS
    register(url=f"{site.url}/toy", **{fact: value})
    with pytest.raises(ValueError, match=r"discarded|not svmlight|features"):
        fl.datasets.load("toy")
    assert files_in(tmp_path) == []


def test_a_download_trusted_on_first_use_must_stay_the_same(site, register, tmp_path):
    site.files["/toy"] = ROWS
    register(url=f"{site.url}/toy")
    fl.datasets.load("toy")
    file = tmp_path / "home" / "datasets" / "toy"
    file.write_bytes(ROWS.replace(b"0.5", b"0.6"))
    with pytest.raises(fetch.ChecksumError, match=r"registered SHA-256 \w+: delete it"):
        fl.datasets.load("toy")
    file.unlink()
    assert fl.datasets.load("toy").X[0, 0] == 0.5


def test_an_interrupted_download_leaves_no_files_and_can_be_repeated(site, register, tmp_path):
    site.files["/toy"] = ROWS * 1
    site.broken = 1
    register(url=f"{site.url}/toy")
    with pytest.raises(ConnectionError, match=rf"{site.url}/toy could not be downloaded .*FENCHEL_DATA"):
        fl.datasets.load("toy")
    assert files_in(tmp_path) == []
    assert len(fl.datasets.load("toy")) == 3


def test_a_keyboard_interrupt_leaves_no_files(site, register, tmp_path, monkeypatch):
    site.files["/toy"] = ROWS
    register(url=f"{site.url}/toy")

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(lookup, "_check_contents", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fl.datasets.load("toy")
    assert files_in(tmp_path) == []


def test_temporary_folders_of_killed_processes_are_removed(site, register, tmp_path):
    site.files["/toy"] = ROWS
    register(url=f"{site.url}/toy")
    for name, age in (("old", 2 * fetch.STALE), ("new", 0.0)):
        folder = tmp_path / "home" / "datasets" / f"{fetch.INCOMING}{name}"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(b"half")
        os.utime(folder, (folder.stat().st_mtime - age,) * 2)
    fl.datasets.load("toy")
    assert files_in(tmp_path) == ["new", "toy", "toy.sha256"]


def test_verify_compares_copies_with_the_registered_checksum(site, register, tmp_path):
    body = lzma.compress(ROWS)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "toy.xz").write_bytes(body)
    register(sha256_xz=sha256(body))
    assert len(fl.datasets.load("toy", verify=True)) == 3
    register(sha256_xz=sha256(b"another file"))
    assert len(fl.datasets.load("toy")) == 3
    with pytest.raises(fetch.ChecksumError, match="damaged or another version"):
        fl.datasets.load("toy", verify=True)


def test_derived_data_sets_have_no_file():
    with pytest.raises(ValueError, match=r"magic04s has no file.*derived from magic04"):
        fl.datasets.path("magic04s")
    with pytest.raises(ValueError, match=r"several files: give the splits 'S1' and 'S2' and 'S3'"):
        fl.datasets.path("mq2008")


def test_errors_for_missing_files_name_the_address_and_the_folder(site, register, tmp_path):
    register(url=f"{site.url}/toy")
    with pytest.raises(ConnectionError, match=r"404"):
        fl.datasets.load("toy")
    with pytest.raises(FileNotFoundError, match=rf"{site.url}/toy and put it as toy .*FENCHEL_DATA"):
        fl.datasets.load("toy", download=False)
    register(url="http://127.0.0.1:9/toy")  # no server there
    with pytest.raises(ConnectionError, match=r"http://127.0.0.1:9/toy could not be downloaded .*put it as toy"):
        fl.datasets.load("toy")
    register()
    with pytest.raises(FileNotFoundError, match=r"no download address"):
        fl.datasets.load("toy")
    assert files_in(tmp_path) == []


def test_folders_of_the_user_are_searched_first(site, register, tmp_path):
    site.files["/toy"] = ROWS
    register(url=f"{site.url}/toy")
    fl.datasets.load("toy")
    (tmp_path / "ours" / "structured").mkdir(parents=True)
    (tmp_path / "ours" / "structured" / "toy.bz2").write_bytes(bz2.compress(ROWS.replace(b"0.5", b"0.7")))
    assert fl.datasets.load("toy").X[0, 0] == 0.7
    with pytest.raises(ValueError, match="There is no registered checksum"):
        fl.datasets.load("toy", verify=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "toy").write_bytes(ROWS.replace(b"0.5", b"0.8"))
    assert fl.datasets.load("toy").X[0, 0] == 0.8
    assert fl.datasets.path("toy") == tmp_path / "mine" / "toy"


def test_uci_files_are_converted_to_svmlight(site, register, tmp_path):
    site.files["/magic04.data"] = b"1,2,3,4,5,6,7,8,9,10,g\n0,2,3,4,5,6,7,8,9,1e-3,h\n"
    register(url=f"{site.url}/magic04.data", convert="uci-magic", rows=2, features=10)
    X, y = fl.datasets.load("toy")
    assert y.tolist() == [1.0, -1.0]
    np.testing.assert_array_equal(X.toarray()[1], [0, 2, 3, 4, 5, 6, 7, 8, 9, 1e-3])
    assert files_in(tmp_path) == ["toy", "toy.sha256"]


def test_uci_labels_are_read_from_a_second_file(site, register, tmp_path):
    site.files |= {"/a.data": b"1 0 3 \n0 5 6 \n", "/a.labels": b"1\n-1\n"}
    register(url=f"{site.url}/a.data", beside_url=f"{site.url}/a.labels", convert="uci-dense", rows=2)
    X, y = fl.datasets.load("toy")
    np.testing.assert_array_equal(X.toarray(), [[1, 0, 3], [0, 5, 6]])
    assert y.tolist() == [1.0, -1.0]
    assert files_in(tmp_path) == ["toy", "toy.sha256"]


@pytest.mark.parametrize("body", [b"1,2,g\n", b"<html>moved</html>\n", b"1,2,3,4,5,6,7,8,9,x,g\n", b"\xff\xfe\n"])
def test_a_web_page_instead_of_a_uci_file_is_refused(site, register, tmp_path, body):
    site.files["/magic04.data"] = body
    register(url=f"{site.url}/magic04.data", convert="uci-magic", rows=1, features=10)
    with pytest.raises(ValueError, match="was discarded"):
        fl.datasets.load("toy")
    assert files_in(tmp_path) == []


def test_sizes_of_queries_are_read_from_a_second_file(site, register, tmp_path):
    site.files |= {"/rank": ROWS, "/rank.query": b"1\n2\n"}
    extra = {"beside_file": "toy.query", "beside_url": f"{site.url}/rank.query"}
    register(layout="query-sizes", task="ranking", url=f"{site.url}/rank", **extra)
    for _ in range(2):
        _, _, qid = fl.datasets.load("toy")
        assert qid.tolist() == [1, 2, 2]
    (tmp_path / "home" / "datasets" / "toy.query").write_text("1\n1\n")
    with pytest.raises(ValueError, match="use the file that belongs to the data"):
        fl.datasets.load("toy")


def test_a_folder_that_cannot_be_written_is_reported(site, register, tmp_path, monkeypatch):
    site.files["/toy"] = ROWS
    register(url=f"{site.url}/toy")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FENCHEL_HOME", str(tmp_path / "file"))
    with pytest.raises(OSError, match="set FENCHEL_HOME"):
        fl.datasets.load("toy")
