"""Who runs the populations of a plan: worker processes on a CPU, this process on a GPU."""

import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Any, NamedTuple

import torch

from reprior.benchmark.plan import Divisions, Population, divide
from reprior.benchmark.run import as_values, run
from reprior.contracts import InputError


class Done(NamedTuple):
    population: Population
    rows: list[dict[str, object]]
    seconds: float


def check_device(device: str) -> None:
    """One clear sentence for a device that is not there."""
    if device not in ("cpu", "cuda"):
        raise InputError(f"No device is called {device!r}; choose 'cpu' or 'cuda'.")
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("Device 'cuda' was asked for but torch sees no GPU; choose --device cpu.")


def describe_device(device: str) -> str:
    """In words, for the report."""
    return torch.cuda.get_device_name() if device == "cuda" else "cpu"


class Executor:
    """Takes populations at any time and hands back results as they arrive."""

    def __init__(self, device: str, workers: int, splits: int, data_dir: str | None) -> None:
        self._work = _Worker(device, splits, data_dir)
        self._queue: deque[Population] = deque()
        self._running: set[Future[Done]] = set()
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None
        if device == "cpu" and workers > 1:
            self._pool = ProcessPoolExecutor(
                workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_prepare,
                initargs=(os.getpid(),),
            )

    def submit(self, populations: Sequence[Population], next_up: bool = False) -> None:
        """Queues populations; `next_up` puts them before all that waits."""
        if next_up:
            self._queue.extendleft(reversed(populations))
        else:
            self._queue.extend(populations)

    def results(self) -> Iterator[Done]:
        """Everything submitted, also what is submitted meanwhile."""
        while self._queue or self._running:
            if self._pool is None:
                yield self._work(self._queue.popleft())
                continue
            while self._queue and len(self._running) < self._workers:
                self._running.add(self._pool.submit(self._work, self._queue.popleft()))
            ready, self._running = wait(self._running, return_when=FIRST_COMPLETED)
            for future in ready:
                yield future.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


class _Worker:
    """Runs one population; keeps each table's divisions for the next."""

    def __init__(self, device: str, splits: int, data_dir: str | None) -> None:
        self.device, self.splits, self.data_dir = device, splits, data_dir
        self._divisions: dict[tuple[str, str], Divisions] = {}

    def __call__(self, population: Population) -> Done:
        started = time.perf_counter()
        cell = population.cell
        known = (cell.set, cell.shift)
        if known not in self._divisions:
            self._divisions[known] = divide(cell, self.splits, self.data_dir)
        results = run(population, self._divisions[known], self.device)
        rows = [as_values(result) for result in results]
        return Done(population, rows, time.perf_counter() - started)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_divisions": {}}


def _prepare(parent: int) -> None:
    """One thread per worker, and no orphans: a killed run must not leave workers behind."""
    torch.set_num_threads(1)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


Progress = Callable[[int, int, str], None]  # populations done, in all so far, what was just done
