"""The command line. Each command is a few lines over the room that does the work."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from reprior.contracts import InputError

app = typer.Typer(
    help="Networks that go back to their prior where they have no data.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
)
bench_app = typer.Typer(help="The paper's experiments; a run that was stopped goes on.")
data_app = typer.Typer(help="The tables the experiments use.")
app.add_typer(bench_app, name="bench", no_args_is_help=True)
app.add_typer(data_app, name="data", no_args_is_help=True)

CORES = os.cpu_count() or 1
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bars.")]
Workers = Annotated[
    int,
    typer.Option(
        min=0, help="Processes to spread the work over; 0: one for each core, or one on a GPU."
    ),
]
DataDir = Annotated[str | None, typer.Option(help="Folder that holds uci/<name>.csv.")]
Sets = Annotated[
    str, typer.Option(help="Names or CSV files, comma-separated; all eight if not given.")
]
Protocols = Annotated[str, typer.Option(help="paper, fair or paper,fair.")]
Shift = Annotated[str, typer.Option(help="cluster or random.")]
Candidates = Annotated[int, typer.Option(help="Settings tried for every model.")]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
Run = Annotated[Path, typer.Option(help="Folder of the run.")]


def main() -> None:
    """Bad input ends in one sentence and exit code 2, never in a traceback."""
    try:
        app()
    except InputError as error:
        print(f"reprior: {error}", file=sys.stderr)
        sys.exit(2)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("reprior-demo"),
    workers: Workers = 0,
    quiet: Quiet = False,
) -> None:
    """The toy figure and a real table under shift, as one HTML page."""
    _one_thread()
    from reprior.doors.demo import demo as run

    names = {"toy": "Toy: four models", "diabetes": "Diabetes under cluster shift"}
    with _bars(quiet) as show:
        report = run(
            out, workers or CORES, lambda what, done, known: show(names[what], done, known)
        )
    print(f"The report is at {report}")


@bench_app.command("uci")
def bench_uci(
    sets: Sets = "",
    models: Annotated[str, typer.Option(help="Comma-separated; all of them if not given.")] = "",
    augments: Annotated[
        str,
        typer.Option(help="Beside the plain models: mixup, noise, pad; all or none of them."),
    ] = "pad",
    protocols: Protocols = "paper,fair",
    shift: Shift = "cluster",
    splits: int = 10,
    epochs: int = 50,
    candidates: Candidates = 12,
    seed: int = 0,
    device: Device = "cpu",
    workers: Workers = 0,
    data_dir: DataDir = None,
    run: Run = Path("runs/uci"),
    quiet: Quiet = False,
) -> None:
    """The paper's regression tables: cluster shift on eight UCI sets."""
    from reprior.augment.catalogue import AUGMENTATIONS

    known = {"all": tuple(AUGMENTATIONS), "none": (), "": ()}
    wanted = known.get(augments.strip(), _listed(augments))
    counts = {"splits": splits, "epochs": epochs, "candidates": candidates, "seed": seed}
    _bench(
        {"sets": sets, "models": models, "protocols": protocols},
        {"augments": ("", *wanted), "shift": shift, **counts},
        *(device, workers, data_dir, run, quiet),
    )


@bench_app.command("ablation")
def bench_ablation(
    sets: Sets = "",
    models: Annotated[str, typer.Option(help="Comma-separated.")] = "mc_dropout,deep_ensemble",
    protocols: Protocols = "paper,fair",
    shift: Shift = "cluster",
    splits: int = 10,
    epochs: int = 50,
    candidates: Candidates = 12,
    seed: int = 0,
    device: Device = "cpu",
    workers: Workers = 0,
    data_dir: DataDir = None,
    run: Run = Path("runs/ablation"),
    quiet: Quiet = False,
) -> None:
    """PAD against itself with one thing changed at a time."""
    from reprior.augment.catalogue import ABLATIONS

    counts = {"splits": splits, "epochs": epochs, "candidates": candidates, "seed": seed}
    _bench(
        {"sets": sets, "models": models, "protocols": protocols},
        {"augments": ("", "pad", *ABLATIONS), "shift": shift, **counts},
        *(device, workers, data_dir, run, quiet),
    )


@bench_app.command("toy")
def bench_toy(
    models: Annotated[str, typer.Option(help="Comma-separated; all of them if not given.")] = "",
    augments: Annotated[str, typer.Option(help="mixup, noise, pad; or none.")] = "pad",
    seeds: Annotated[int, typer.Option(min=1, help="Draws of data and start to average.")] = 10,
    run: Run = Path("runs/toy"),
    quiet: Quiet = False,
) -> None:
    """The paper's first figure with every model, and how wide each is where there is no data."""
    _one_thread()
    from reprior.benchmark.plan import combinations
    from reprior.benchmark.spec import Spec
    from reprior.doors.toy_page import toy_page

    wanted = () if augments.strip() == "none" else _listed(augments)
    spec = Spec(models=_listed(models) or Spec().models, augments=("", *wanted))
    with _bars(quiet) as show:
        progress = partial(show, "Toy")
        path = toy_page(run, combinations(spec), seeds, progress)
    print((run / "toy.csv").read_text(), end="")
    print(f"The report is at {path}")


def _bench(
    listed: dict[str, str],
    given: dict[str, Any],
    device: str,
    workers: int,
    data_dir: str | None,
    folder: Path,
    quiet: bool,
) -> None:
    """Runs what a specification lacks in its folder, then writes and prints the report.

    listed  names, comma-separated; empty ones are left to the specification
    """
    _one_thread()
    from reprior.benchmark.bench import bench
    from reprior.benchmark.executors import check_device, describe_device
    from reprior.benchmark.spec import Spec
    from reprior.benchmark.store import Store
    from reprior.report.provenance import collect_provenance

    named: dict[str, Any] = {name: _listed(text) for name, text in listed.items() if _listed(text)}
    spec = Spec(**named, **given)
    check_device(device)
    made = collect_provenance(describe_device(device))
    # What is stored says how it was made; when is the store's own affair.
    made.pop("date", None)
    store = Store(folder / "store.sqlite")
    try:
        with _bars(quiet) as show:
            bench(
                spec, store, made, device, workers or (CORES if device == "cpu" else 1), data_dir,
                lambda done, known, what: show(f"Populations {what}".strip(), done, known),
            )  # fmt: skip
    finally:
        store.close()
    _write_report(folder)
    report(folder, "text")
    print(f"The report is at {folder / 'report.html'}")


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    format: Annotated[str, typer.Option(help="text, md, latex, csv or html.")] = "text",
) -> None:
    """Tables of a run, the paper's numbers beside ours; html also rewrites RUN/report.html."""
    from reprior.report import FORMATS, to_csv
    from reprior.report.bench_page import bench_grids

    known = (*FORMATS, "csv", "html")
    if format not in known:
        raise InputError(f"No format is called {format!r}; choose from {', '.join(known)}.")
    rows, against_pad = _rows(run)
    if format == "csv":
        print(to_csv(rows), end="")
    elif format == "html":
        _write_report(run)
        print(f"The report is at {run / 'report.html'}")
    else:
        grids = bench_grids(rows, against_pad)
        print("\n\n".join(FORMATS[format](grid) for grid in grids))


@data_app.command("list")
def data_list() -> None:
    """What tables there are and where they come from."""
    from reprior.datasets import catalogue

    for row in catalogue.describe():
        size = f"{row.rows} × {row.features}"
        print(f"{row.name:10} {size:>12}  {row.target:40} {row.origin}")


@data_app.command("get")
def data_get(
    name: Annotated[str, typer.Argument(help="A name from `reprior data list`.")],
    quiet: Quiet = False,
) -> None:
    """Download a table into the cache and check it."""
    from reprior.datasets import catalogue

    with _bars(quiet) as show:
        path = catalogue.get(name, progress=lambda done, known: show(name, done, known))
    print(f"{name} is at {path}" if path else f"{name} needs no file")


@data_app.command("verify")
def data_verify(data_dir: DataDir = None) -> None:
    """Check every file of a data folder (by default the cache) against what is known of it."""
    from reprior.datasets import catalogue

    found = catalogue.verify(data_dir)
    for check in found:
        print(f"{check.name:10} {check.state:9} {check.file}")
    altered = [check.name for check in found if check.state == "altered"]
    if altered:
        raise InputError(
            f"The files of {', '.join(altered)} are not what they should be; delete them and run "
            "`reprior data get` again."
        )


def _rows(run: Path) -> tuple[list[Any], list[Any]]:
    """The table of a run, with differences to the plain models and to the whole of PAD."""
    from reprior.benchmark.store import Store
    from reprior.report import aggregate

    store = Store(run / "store.sqlite", writing=False)
    try:
        finals = store.finals()
    finally:
        store.close()
    if not finals:
        raise InputError(f"The run at {run} has no finished cell yet; start `reprior bench` again.")
    return aggregate(finals), aggregate(finals, reference="pad")


def _write_report(run: Path) -> None:
    from reprior.benchmark.plan import Cell, space_of
    from reprior.benchmark.run import FURTHER_MEASURES
    from reprior.benchmark.store import Store
    from reprior.datasets.fetch import whole_or_nothing
    from reprior.report import measures_csv, to_csv
    from reprior.report.bench_page import bench_page
    from reprior.report.names import ABLATIONS

    rows, against_pad = _rows(run)
    store = Store(run / "store.sqlite", writing=False)
    try:
        seconds, wall = store.seconds(), store.wall_seconds()
        made, finals = store.made(), store.finals()
    finally:
        store.close()
    spaces = {
        f"{row.model}+{row.augment}" if row.augment else row.model: space_of(Cell(*row.cell), 1)
        for row in rows
    }
    provenance = {k: "; ".join(dict.fromkeys(str(m[k]) for m in made if k in m)) for k in made[0]}
    text = bench_page("reprior bench", rows, against_pad, finals, spaces, seconds, wall, provenance)
    written = {
        "table.csv": to_csv(rows),
        "measures.csv": measures_csv(finals, FURTHER_MEASURES),
        "report.html": text,
    }
    if any(row.augment in ABLATIONS for row in rows):
        written["ablation.csv"] = to_csv(against_pad)
    for name, content in written.items():
        with whole_or_nothing(run / name) as file:
            file.write(content.encode())


def _listed(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _one_thread() -> None:
    """Small networks are fastest on one thread; parallelism comes from populations and workers."""
    import torch

    torch.set_num_threads(1)


@contextmanager
def _bars(quiet: bool) -> Iterator[Any]:
    """show(what, done, known): one bar for each thing shown; silent when nobody is watching."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as progress:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, known: int | None) -> None:
            name = what.split(" ")[0]
            if name not in tasks:
                tasks[name] = progress.add_task(what, total=known)
            progress.update(tasks[name], description=what, completed=done, total=known)

        yield show
