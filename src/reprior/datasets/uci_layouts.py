"""The layouts the eight sets are published in, read as rows of our CSV.

A layout is a function of a file. It yields one or more ways to read that file, likeliest first,
each a stream of comma-separated rows. Text keeps its digits; spreadsheets hold floats, which are
rounded to the digits that were published. Nothing is checked here: `uci.canonical` does that.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from reprior.contracts import Floats, InputError

Lines = Iterator[str]  # rows of the canonical CSV, without its header
Layout = Callable[[Path], Iterator[Lines]]


def spaced(columns: int) -> Layout:
    """Numbers separated by spaces, one row to a line; only the first so many columns are kept."""

    def readings(raw: Path) -> Iterator[Lines]:
        rows = (line.split() for line in _text(raw))
        yield (",".join(row[:columns]) for row in rows if row)

    return readings


def housing(raw: Path) -> Iterator[Lines]:
    """As UCI has it, or as StatLib has it: 22 lines of words, then every row over two lines."""
    yield from spaced(14)(raw)
    tokens = " ".join(_text(raw)[22:]).split()
    yield (",".join(tokens[i : i + 14]) for i in range(0, len(tokens), 14))


def semicolons(raw: Path) -> Iterator[Lines]:
    """A header, then numbers separated by semicolons."""
    yield (line.replace(";", ",") for line in _text(raw)[1:] if line)


def scientific(raw: Path) -> Iterator[Lines]:
    """ARFF or CSV, written anew with eight significant digits."""
    rows = (line.split(",") for line in _text(raw) if re.match(r"[-+.\d]", line))
    yield (",".join(f"{float(token):.7e}" for token in row) for row in rows)


def spreadsheet(*decimals: int | None) -> Layout:
    """One reading per sheet. So many decimals in each column; None is two without idle zeros."""

    def readings(raw: Path) -> Iterator[Lines]:
        import pandas as pd

        try:
            sheets = pd.read_excel(raw, sheet_name=None)
        except ImportError as error:
            package = "xlrd" if raw.suffix == ".xls" else "openpyxl"
            raise InputError(
                f"{raw.name} is a spreadsheet, and reading it takes the package {package}; run "
                f"`pip install {package}` and try again."
            ) from error
        except Exception as error:  # each reader raises errors of its own on a broken file
            raise InputError(
                f"{raw.name} could not be read as a spreadsheet ({error}); it was truncated or "
                "altered, so fetch it again."
            ) from error
        for sheet in sheets.values():
            cells = sheet.iloc[:, : len(decimals)].apply(pd.to_numeric, errors="coerce").dropna()
            if cells.shape[1] == len(decimals):
                yield _rounded(cells.to_numpy(np.float64), decimals)

    return readings


def _rounded(cells: Floats, decimals: tuple[int | None, ...]) -> Lines:
    for row in cells:
        yield ",".join(map(_decimal, row, decimals))


def _decimal(value: float, places: int | None) -> str:
    if places is None:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{value:.{places}f}"


def _text(raw: Path) -> list[str]:
    return [line.strip() for line in raw.read_text("utf-8", "replace").splitlines()]
