"""Every table known by name, wherever it comes from."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from reprior.contracts import InputError, Table
from reprior.datasets import bundled, uci
from reprior.datasets.fetch import Progress
from reprior.datasets.tables import nearest, read
from reprior.datasets.toy import toy


class Row(NamedTuple):
    """One line of `reprior data list`."""

    name: str
    title: str
    rows: int
    features: int
    target: str
    origin: str  # made, bundled, or the address it is downloaded from
    licence: str


class Check(NamedTuple):
    """One line of `reprior data verify`."""

    name: str
    file: Path
    state: str  # ok, unpinned, altered or missing


# Name, then what `describe` says of it; these need no file.
AT_HAND: dict[str, tuple[Callable[[], Table], Row]] = {
    "toy": (toy, Row("toy", "The paper's toy", 200, 1, "y", "made", "Apache-2.0")),
    "diabetes": (
        bundled.diabetes,
        Row("diabetes", "Diabetes", 442, 10, "progression", "bundled", "BSD-3, scikit-learn"),
    ),
    "digits": (
        bundled.digits,
        Row("digits", "Digits, 8×8", 1797, 64, "digit", "bundled", "BSD-3, scikit-learn"),
    ),
}


def names() -> list[str]:
    return [*AT_HAND, *uci.SOURCES]


def load(name: str, data_dir: Path | str | None = None) -> Table:
    """The table of this name, or of this file; data_dir is searched before the cache.

    Never downloads. A file is a CSV or Parquet file with a header; its last column is the target.
    """
    if is_file(name):
        return read(name)
    _check(name)
    return AT_HAND[name][0]() if name in AT_HAND else uci.load(name, data_dir)


def is_file(name: str) -> bool:
    """Whether this names a file of the user's own rather than a table known by name."""
    return name.endswith((".csv", ".parquet"))


def get(
    name: str, cache: Path | str | None = None, progress: Progress | None = None
) -> Path | None:
    """Download a table into the cache and say where it is; None if it needs no file."""
    _check(name)
    return None if name in AT_HAND else uci.get(name, cache, progress)


def describe() -> list[Row]:
    return [row for _, row in AT_HAND.values()] + [
        Row(
            name,
            source.title,
            source.rows,
            len(source.names) - 1,
            source.names[-1],
            source.downloads[0].url,
            source.licence,
        )
        for name, source in uci.SOURCES.items()
    ]


def verify(data_dir: Path | str | None = None) -> list[Check]:
    """Every file of a data folder (by default the cache) against what is known of it."""
    files = {name: uci.file_of(name, data_dir) for name in uci.SOURCES}
    return [Check(name, file, uci.state(name, file)) for name, file in files.items()]


def _check(name: str) -> None:
    if name not in names():
        raise InputError(f"No table is called {name!r}; {nearest(name, names())}")
