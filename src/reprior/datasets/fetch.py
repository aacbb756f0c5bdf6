"""Downloads that are whole or absent: checked for length and digest, then moved into place."""

import errno
import hashlib
import os
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple
from urllib.parse import urlsplit

from reprior.contracts import InputError

SECONDS = 30.0  # without an answer before a server counts as gone
CHUNK = 1 << 18

Progress = Callable[[int, int | None], None]  # bytes so far, bytes in all if the server said


class Download(NamedTuple):
    url: str
    digest: str | None = None  # "sha256:..." or "md5:..." where one has been published


def cache_folder() -> Path:
    """Where downloads are kept; laid out like a user's own data folder."""
    given = os.environ.get("REPRIOR_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "reprior"


def download(source: Download, path: Path, progress: Progress | None = None) -> Path:
    """Bring source.url to path. On any failure the path is left as it was."""
    url = source.url
    _check_address(url)
    try:
        response = urllib.request.urlopen(url, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        raise InputError(
            f"{url} answered {error.code} ({error.reason}) where a file was expected; try again "
            "later, or fetch it by hand and point --data-dir at it."
        ) from error
    except (OSError, HTTPException) as error:
        raise InputError(
            f"{url} could not be reached ({error}); check the connection and try again."
        ) from error
    with response, whole_or_nothing(path) as file:
        _check_address(response.url)  # a redirect may lead anywhere
        length = response.headers.get("Content-Length")
        expected = int(length) if length and length.isdigit() else None
        algorithm, _, digest = (source.digest or "sha256:").partition(":")
        seen, size = hashlib.new(algorithm, usedforsecurity=False), 0
        for chunk in _chunks(response, url):
            file.write(chunk)
            seen.update(chunk)
            size += len(chunk)
            if progress:
                progress(size, expected)
        if expected is not None and size != expected:
            raise InputError(
                f"{url} ended after {size} of {expected} bytes; nothing was kept, try again."
            )
        if digest and seen.hexdigest() != digest:
            raise InputError(
                f"{url} came with {algorithm} {seen.hexdigest()} where {digest} is pinned, so it "
                "was altered or replaced; nothing was kept, fetch it from a source you trust."
            )
    return path


def extract(archive: Path, member: str, folder: Path) -> Path:
    """The one file of a zip archive that has this name, in whichever of its folders, to folder."""
    try:
        with zipfile.ZipFile(archive) as zipped:
            for name in zipped.namelist():
                _check_inside(name, archive)
            found = [name for name in zipped.namelist() if PurePosixPath(name).name == member]
            if len(found) != 1:
                raise InputError(
                    f"{archive.name} holds {len(found)} files named {member} where one was "
                    "expected; the archive has changed, so put the data in place by hand."
                )
            content = zipped.read(found[0])
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise InputError(
            f"{archive.name} is not a zip archive in good order; it was truncated or altered, so "
            "remove it and fetch it again."
        ) from error
    target = folder / member
    with whole_or_nothing(target) as file:
        file.write(content)
    return target


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes its name only once it is complete and on the disk."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise InputError(
            f"{path.name} could not be written to {path.parent}: "
            + ("no space is left there; free some, " if full else f"{error.strerror or error}; ")
            + "or name another folder in REPRIOR_CACHE."
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _chunks(response: BinaryIO, url: str) -> Iterator[bytes]:
    try:
        while chunk := response.read(CHUNK):
            yield chunk
    except (OSError, HTTPException) as error:
        raise InputError(
            f"{url} broke off ({error}); nothing was kept, check the connection and try again."
        ) from error


def _check_address(url: str) -> None:
    parts = urlsplit(url)
    # Plain http to this very machine cannot be tampered with on the way, and serves tests.
    if parts.scheme != "https" and (parts.scheme, parts.hostname) != ("http", "127.0.0.1"):
        raise InputError(f"{url} is not an https address, and only those are fetched from.")


def _check_inside(name: str, archive: Path) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name:
        raise InputError(
            f"{archive.name} holds {name!r}, which would be written outside its folder; nothing "
            "was unpacked, fetch the archive from a source you trust."
        )
