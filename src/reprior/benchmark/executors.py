"""Who runs the populations of a plan: worker processes, or this one where there is one worker.

Workers that share a GPU prepare their populations while another one computes.
"""

import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from typing import NamedTuple

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
        self._work = partial(work, device=device, splits=splits, data_dir=data_dir)
        self._queue: deque[Population] = deque()
        self._running: set[Future[Done]] = set()
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None
        if workers > 1:
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
                try:
                    yield future.result()
                except BrokenProcessPool:
                    raise InputError(
                        "A worker process was ended from outside, probably for want of memory; use "
                        "fewer --workers and start again: what is stored is kept."
                    ) from None

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def work(population: Population, device: str, splits: int, data_dir: str | None) -> Done:
    """Runs one population from its plan to its rows."""
    started = time.perf_counter()
    cell = population.cell
    divisions = _divided(cell.set, cell.shift, splits, data_dir)
    results = run(population, divisions, device)
    return Done(population, [as_values(r) for r in results], time.perf_counter() - started)


@cache
def _divided(name: str, shift: str, splits: int, data_dir: str | None) -> Divisions:
    """A table and its splits, read once in every process."""
    return divide(name, shift, splits, data_dir)


def _prepare(parent: int) -> None:
    """One thread per worker, and no orphans: a killed run must not leave workers behind."""
    torch.set_num_threads(1)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


Progress = Callable[[int, int, str], None]  # populations done, in all so far, what was just done
