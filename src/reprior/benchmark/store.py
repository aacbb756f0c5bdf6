"""Where results live: one SQLite file, one row per result, one transaction per population.

There is no progress file. What a run still has to do is its plan minus the populations found here,
so that it may be killed at any moment and started again.
"""

import fcntl
import json
import math
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from reprior.benchmark.plan import Cell, Population
from reprior.contracts import InputError

SCHEMA = """
create table if not exists populations (
    key text primary key, stage text not null, cell text not null,
    seconds real not null, waited real not null, made text not null
);
create table if not exists meta (name text primary key, value text not null);
create table if not exists results (
    population text not null references populations(key),
    split integer not null, fold integer not null, candidate integer not null,
    row text not null,
    primary key (population, split, fold, candidate)
);
"""


class Store:
    """Opened by one run at a time; readers need no lock."""

    def __init__(self, path: Path, writing: bool = True) -> None:
        self.path = path
        self._lock: IO[str] | None = None
        self._db = sqlite3.connect(":memory:")
        if not writing and not path.exists():
            raise InputError(f"There are no results at {path}; run `reprior bench` first.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if writing:
                self._lock = open(path.with_suffix(".lock"), "w")  # noqa: SIM115  held while open
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("pragma synchronous = full")
            if writing:
                self._db.executescript(SCHEMA)
            self._db.execute("select count(waited) from populations")
        except BlockingIOError:
            self.close()
            raise InputError(
                f"Another run is writing to {path}; wait for it or choose another --run folder."
            ) from None
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise _unusable(path, error) from error

    def belongs_to(self, conditions: Mapping[str, Any]) -> None:
        """Ties the file to what all of its results must share; refuses any other conditions.

        Results that came about under other conditions must not stand in one table with these.
        """
        stored = dict(self._db.execute("select name, value from meta"))
        given = {name: json.dumps(value) for name, value in conditions.items()}
        for name in given:
            if name in stored and stored[name] != given[name]:
                raise InputError(
                    f"The results at {self.path} were made with {name} {stored[name]} but "
                    f"{given[name]} was asked for; choose another --run folder."
                )
        try:
            self._db.executemany("insert or ignore into meta values (?, ?)", given.items())
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error

    def done(self, population: Population) -> bool:
        found = self._db.execute("select 1 from populations where key = ?", (population.key,))
        return found.fetchone() is not None

    def add(
        self,
        population: Population,
        rows: Iterable[Mapping[str, Any]],
        seconds: float,
        made: Mapping[str, Any],
        waited: float = 0.0,
    ) -> None:
        """All results of a population, or none of them.

        seconds  of computing, wherever that happened
        waited   of wall time since this process stored its last one
        """
        cell = json.dumps(asdict(population.cell))
        values = [
            (population.key, row["split"], row["fold"], row["candidate"], _json(row))
            for row in rows
        ]
        try:
            self._db.execute("begin immediate")
            self._db.execute(
                "insert into populations values (?, ?, ?, ?, ?, ?)",
                (population.key, population.stage, cell, seconds, waited, json.dumps(made)),
            )
            self._db.executemany("insert into results values (?, ?, ?, ?, ?)", values)
            self._db.execute("commit")
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error
        finally:
            if self._db.in_transaction:
                self._db.execute("rollback")

    def rows(self, population: Population) -> list[dict[str, Any]]:
        """The results of one population; empty if it has not run."""
        found = self._db.execute(
            "select row from results where population = ? order by split, fold, candidate",
            (population.key,),
        )
        return [_values(text) for (text,) in found]

    def finals(self) -> list[dict[str, Any]]:
        """Every final result with the cell it belongs to, in a stable order."""
        found = self._db.execute(
            "select cell, row from results join populations on key = population "
            "where stage = 'final' order by cell, split"
        )
        return [asdict(Cell(**json.loads(cell))) | _values(row) for cell, row in found]

    def seconds(self) -> dict[str, float]:
        """Seconds of computing by model and augmentation, of all that is stored."""
        total: dict[str, float] = {}
        for text, seconds in self._db.execute("select cell, seconds from populations"):
            cell = Cell(**json.loads(text))
            name = f"{cell.model}+{cell.augment}" if cell.augment else cell.model
            total[name] = total.get(name, 0.0) + seconds
        return dict(sorted(total.items()))

    def wall_seconds(self) -> float:
        """How long the runs that filled the store took, without what they lost in flight."""
        (total,) = self._db.execute("select total(waited) from populations").fetchone()
        return float(total)

    def made(self) -> list[dict[str, Any]]:
        """Every provenance that populations were stored with, once each."""
        found = self._db.execute("select distinct made from populations order by made")
        return [json.loads(text) for (text,) in found]

    def close(self) -> None:
        self._db.close()
        if self._lock is not None:
            self._lock.close()


def _json(row: Mapping[str, Any]) -> str:
    """JSON has no NaN: a missing score is null."""
    return json.dumps(
        {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
        | {"settings": {k: str(v) for k, v in row["settings"].items()}}
    )


def _values(text: str) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(text)
    return {k: math.nan if v is None else v for k, v in row.items()}


def _unusable(path: Path, error: Exception) -> InputError:
    return InputError(
        f"The results file {path} cannot be used ({error}); make room or choose another --run "
        "folder, then start again: what is stored is kept."
    )
