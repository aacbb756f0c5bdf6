"""A whole benchmark: plan, subtract what is stored, run the rest, choose, run the finals."""

import time
from collections.abc import Mapping
from typing import Any

from reprior.benchmark.executors import Executor, Progress, check_device
from reprior.benchmark.plan import Cell, Population, cells, divide, finals, ranges, tuning
from reprior.benchmark.select import choose
from reprior.benchmark.spec import Spec
from reprior.benchmark.store import Store


def bench(
    spec: Spec,
    store: Store,
    made: Mapping[str, Any],
    device: str = "cpu",
    workers: int = 1,
    data_dir: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Fills the store with every result of the spec that is not in it yet.

    made  what the results are stored with: versions, device, command
    """
    started = time.perf_counter()
    check_device(device)
    every = list(cells(spec))
    divided = {}
    for cell in every:
        if cell.set not in divided:
            divided[cell.set] = divide(cell.set, spec.shift, spec.splits, data_dir)
    store.belongs_to(spec.conditions() | {"device": device} | ranges(spec))
    to_tune = {cell: tuning(cell, spec, divided[cell.set], device) for cell in every}
    open_parts: dict[Cell, set[str]] = {}
    executor = Executor(device, workers, spec.splits, data_dir)
    done, known = 0, sum(len(parts) for parts in to_tune.values())

    def start_finals(cell: Cell) -> list[Population]:
        splits = len(divided[cell.set].splits)
        rows = [row for part in to_tune[cell] for row in store.rows(part)]
        # Without anything to set all candidates are the same.
        picked = [c.candidate for c in choose(rows, splits)] if to_tune[cell] else [0] * splits
        return finals(cell, spec, divided[cell.set], picked, device)

    def submit(parts: list[Population], next_up: bool = False) -> int:
        missing = [part for part in parts if not store.done(part)]
        executor.submit(missing, next_up)
        return len(parts) - len(missing)

    try:
        for cell, parts in to_tune.items():
            open_parts[cell] = {part.key for part in parts if not store.done(part)}
            done += submit(parts)
            if not open_parts[cell]:
                last = start_finals(cell)
                known += len(last)
                done += submit(last, next_up=True)
        if progress is not None:
            progress(done, known, "")
        for result in executor.results():
            population = result.population
            now = time.perf_counter()
            store.add(population, result.rows, result.seconds, made, now - started)
            started = now
            done += 1
            cell = population.cell
            if population.stage == "tune":
                open_parts[cell].discard(population.key)
                if not open_parts[cell]:
                    last = start_finals(cell)
                    known += len(last)
                    done += submit(last, next_up=True)
            if progress is not None:
                progress(done, known, f"{cell.protocol} {cell.set} {cell.model} {cell.augment}")
    finally:
        executor.close()
