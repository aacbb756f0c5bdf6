"""A user's CSV or Parquet file as a Table, or one sentence about what is wrong with it."""

import csv
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reprior.contracts import Floats, InputError, Table

if TYPE_CHECKING:
    from pandas import DataFrame


def read(path: Path | str, target: str | None = None, ignore: Sequence[str] = ()) -> Table:
    """The table in a file.

    target  column to predict; the last one if not given
    ignore  columns to leave out, a date for example
    """
    path = Path(path)
    frame = read_frame(path)
    for column in ignore:
        _require(column, list(frame.columns), path.name)
    frame = frame.drop(columns=list(ignore))
    columns = [str(column) for column in frame.columns]
    if len(columns) < 2:
        raise InputError(
            f"{path.name} has a single column ({', '.join(columns)}) to work with, but a table "
            "needs at least one feature and a target; check that commas separate its values."
        )
    target = columns[-1] if target is None else target
    _require(target, columns, path.name)
    features = tuple(column for column in columns if column != target)
    values = numbers(frame, [*features, target], path.name)
    return Table(path.stem, values[:, :-1], values[:, -1], features, target)


def read_frame(path: Path | str) -> "DataFrame":
    """The file as a data frame that has rows and a name of its own for every column."""
    import pandas as pd

    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path} is not a file, but a table was expected there; check the path.")
    if path.suffix in (".parquet", ".pq"):
        try:
            frame = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{path.name} could not be read as Parquet; it may be cut short, so make it anew."
            ) from error
        _check_names([str(column) for column in frame.columns], path.name)
    else:
        _check_names(_header(path), path.name)
        try:
            with warnings.catch_warnings():
                # Rows longer than the header only warn, and their surplus would be dropped.
                warnings.simplefilter("error", pd.errors.ParserWarning)
                frame = pd.read_csv(
                    path, index_col=False, float_precision="round_trip", encoding="utf-8-sig"
                )
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise InputError(
                f"{path.name} has rows with more values than its header has names; "
                "give every row the same number of values."
            ) from error
        except UnicodeDecodeError as error:
            raise _not_text(path.name) from error
    if frame.empty:
        raise InputError(
            f"{path.name} has column names but no rows; give it at least one row of numbers."
        )
    return frame


def numbers(frame: "DataFrame", columns: Sequence[str], where: str) -> Floats:
    """The named columns as finite numbers, (N, len(columns)), in the order of the names."""
    import pandas as pd

    for column in columns:
        _require(column, [str(name) for name in frame.columns], where)
    values = np.empty((len(frame), len(columns)))
    for i, column in enumerate(columns):
        given = frame[column]
        parsed = pd.to_numeric(given, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        missing = given.isna().to_numpy(bool)
        text = np.isnan(parsed) & ~missing
        if text.any() or pd.api.types.is_datetime64_any_dtype(given):
            row = int(text.argmax())
            raise InputError(
                f"{where} has the text {str(given.iloc[row])!r} in column {column!r}, row "
                f"{row + 1}, where a number is expected; turn the column into numbers or leave it "
                "out."
            )
        for kind, bad in (("a missing value (NaN)", missing), ("an infinite value", ~missing)):
            wrong = bad & ~np.isfinite(parsed)
            if wrong.any():
                raise InputError(
                    f"{where} has {kind} in column {column!r}, first in row "
                    f"{int(wrong.argmax()) + 1} ({int(wrong.sum())} in all), where finite numbers "
                    "are expected; fill it in or drop the row."
                )
        values[:, i] = parsed
    return values


def check_for_benchmark(table: Table, clusters: int = 10) -> None:
    """What a benchmark cannot use. Constant features and repeated rows are fine: real sets do."""
    if len(table.y) < clusters:
        raise InputError(
            f"{table.name} has {len(table.y)} rows, but shifts are made of {clusters} clusters of "
            "rows; give it more rows or ask for fewer clusters."
        )
    if np.ptp(table.y) == 0:
        raise InputError(
            f"{table.name} has the same target {table.target!r} = {table.y[0]:g} in every row, but "
            "a benchmark needs one that varies; choose another target column."
        )


def nearest(given: str, known: Sequence[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, or all of them."""
    close = get_close_matches(given, known, 1, 0.5)
    return f"did you mean {close[0]!r}?" if close else f"choose from: {', '.join(known)}."


def _header(path: Path) -> list[str]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            names = next((row for row in csv.reader(file) if row), [])
    except UnicodeDecodeError as error:
        raise _not_text(path.name) from error
    if not names:
        raise InputError(
            f"{path.name} is empty, but a line of column names and rows of numbers were expected; "
            "check that it was written in full."
        )
    return names


def _check_names(names: list[str], where: str) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated and repeated != [""]:
        raise InputError(
            f"{where} has more than one column named {repeated[-1]!r}, but names must differ; "
            "rename or remove one."
        )
    if "" in names:
        raise InputError(
            f"{where} has no name for column {names.index('') + 1}, but each needs one; name it, "
            "or remove it if it only counts the rows."
        )
    if all(_is_number(name) for name in names):
        raise InputError(
            f"{where} begins with the numbers {', '.join(names[:3])}, where column names are "
            "expected; put a line of names on top."
        )


def _require(column: str, known: Sequence[str], where: str) -> None:
    if column not in known:
        raise InputError(f"{where} has no column {column!r}; {nearest(column, known)}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _not_text(where: str) -> InputError:
    return InputError(f"{where} is not UTF-8 text, but a CSV file was expected; save it as UTF-8.")
