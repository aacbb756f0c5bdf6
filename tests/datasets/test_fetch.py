import errno
import hashlib
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from reprior.contracts import InputError
from reprior.datasets import fetch
from reprior.datasets.fetch import Download, download, extract, whole_or_nothing

CONTENT = b"a,b\n1,2\n" * 5000


class Server(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/gone":
            return self.send_error(404)
        if self.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_port}/whole")
            return self.end_headers()
        self.send_response(200)
        if self.path != "/unmeasured":
            promised = len(CONTENT) + (100 if self.path == "/truncated" else 0)
            self.send_header("Content-Length", str(promised))
        self.end_headers()
        return self.wfile.write(CONTENT)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    with HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def assert_refused(source, folder, words):
    with pytest.raises(InputError, match=words) as caught:
        download(source, folder / "data.csv")
    assert "\n" not in str(caught.value)
    assert not folder.exists() or not list(folder.iterdir())


@pytest.mark.parametrize("page", ["whole", "unmeasured"])
def test_a_whole_file_arrives_and_nothing_else_stays(server, tmp_path, page):
    path = download(Download(f"{server}/{page}"), tmp_path / "new" / "data.csv")
    assert path.read_bytes() == CONTENT
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("algorithm", ["md5", "sha256"])
def test_a_pinned_file_is_compared_with_its_digest(server, tmp_path, algorithm):
    right = f"{algorithm}:{hashlib.new(algorithm, CONTENT).hexdigest()}"
    assert download(Download(f"{server}/whole", right), tmp_path / "whole").exists()
    wrong = f"{algorithm}:{hashlib.new(algorithm, b'other').hexdigest()}"
    assert_refused(Download(f"{server}/whole", wrong), tmp_path / "a", "altered or replaced")


def test_a_truncated_download_is_never_taken_for_whole(server, tmp_path):
    assert_refused(Download(f"{server}/truncated"), tmp_path, "ended after 40000 of 40100 bytes")


def test_a_failed_download_leaves_the_old_file_alone(server, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("old")
    with pytest.raises(InputError):
        download(Download(f"{server}/truncated"), path)
    assert path.read_text() == "old"


def test_an_error_of_the_server_is_told(server, tmp_path):
    assert_refused(Download(f"{server}/gone"), tmp_path, "answered 404")


def test_a_server_that_is_not_there_is_told(tmp_path):
    assert_refused(Download("http://127.0.0.1:9/x"), tmp_path, "could not be reached")


@pytest.mark.parametrize("url", ["http://example.org/x", "file:///etc/passwd", "ftp://a/b"])
def test_only_https_is_fetched_from(tmp_path, url):
    assert_refused(Download(url), tmp_path, "not an https address")


def test_a_redirect_away_from_https_is_not_followed_to_a_file(server, tmp_path):
    assert_refused(Download(f"{server}/elsewhere"), tmp_path, "not an https address")


def test_progress_ends_at_the_length(server, tmp_path):
    seen = []
    download(Download(f"{server}/whole"), tmp_path / "a", lambda *step: seen.append(step))
    assert seen[-1] == (len(CONTENT), len(CONTENT))


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_no_file(server, tmp_path, monkeypatch, step):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fetch.os, step, full)
    assert_refused(Download(f"{server}/whole"), tmp_path, "no space is left there")


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match="could not be written"),
        whole_or_nothing(tmp_path / "file" / "data.csv"),
    ):
        pass


def test_an_interrupted_writer_leaves_no_file(tmp_path):
    def interrupted():
        with whole_or_nothing(tmp_path / "data.csv") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())


def zipped(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_a_member_is_found_in_whichever_folder(tmp_path):
    archive = zipped(tmp_path / "a.zip", **{"Set A/data.txt": "1", "Set A/other.txt": "2"})
    assert extract(archive, "data.txt", tmp_path / "out") == tmp_path / "out" / "data.txt"
    assert (tmp_path / "out" / "data.txt").read_text() == "1"


@pytest.mark.parametrize("name", ["../data.txt", "/tmp/data.txt", "..\\data.txt", "C:\\data.txt"])
def test_an_archive_that_reaches_outside_its_folder_is_refused(tmp_path, name):
    archive = zipped(tmp_path / "a.zip", **{"data.txt": "1", name: "2"})
    with pytest.raises(InputError, match="outside its folder"):
        extract(archive, "data.txt", tmp_path / "out")
    assert list(tmp_path.iterdir()) == [archive]


def test_a_truncated_or_altered_archive_is_refused(tmp_path):
    archive = zipped(tmp_path / "a.zip", **{"data.txt": "1" * 1000})
    whole = archive.read_bytes()
    for broken in (whole[:-30], whole.replace(b"111", b"121", 1)):
        archive.write_bytes(broken)
        with pytest.raises(InputError, match="truncated or altered"):
            extract(archive, "data.txt", tmp_path / "out")
    assert list(tmp_path.iterdir()) == [archive]


def test_an_archive_without_the_member_is_refused(tmp_path):
    archive = zipped(tmp_path / "a.zip", **{"other.txt": "1"})
    with pytest.raises(InputError, match=r"holds 0 files named data\.txt"):
        extract(archive, "data.txt", tmp_path / "out")
