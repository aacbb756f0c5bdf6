"""`reprior demo`: the toy figure and a real table under shift, as one page within two minutes."""

from collections.abc import Callable
from pathlib import Path

from reprior.benchmark.bench import bench
from reprior.benchmark.plan import cells
from reprior.benchmark.spec import Spec
from reprior.benchmark.store import Store
from reprior.benchmark.toy import Study, study
from reprior.datasets.fetch import whole_or_nothing
from reprior.doors.toy_page import regions_table, toy_block
from reprior.report import (
    Section,
    Table,
    Text,
    aggregate,
    collect_provenance,
    deltas,
    page,
    paper_layout,
    to_csv,
)

MODELS = ("mc_dropout", "deep_ensemble")
DIABETES = Spec(
    sets=("diabetes",), models=MODELS, augments=("", "pad"), protocols=("paper",), splits=5
)

Progress = Callable[[str, int, int], None]  # what, done, in all


def demo(folder: Path, workers: int, progress: Progress) -> Path:
    """Writes the page into a folder and says where it is."""
    studies: dict[tuple[str, str], Study] = {}
    wanted = [(name, augment) for augment in ("", "pad") for name in MODELS]
    for i, (name, augment) in enumerate(wanted):
        progress("toy", i, len(wanted))
        studies[name, augment] = study(name, augment, seeds=1)
    progress("toy", len(wanted), len(wanted))
    provenance = collect_provenance("cpu")
    store = Store(folder / "diabetes.sqlite")
    try:
        made = {k: v for k, v in provenance.items() if k not in ("date", "command")}
        bench(
            DIABETES, store, made, "cpu", workers,
            progress=lambda done, known, _: progress("diabetes", done, known),
        )  # fmt: skip
        known = {tuple(vars(cell).values()) for cell in cells(DIABETES)}
        rows = aggregate(
            row
            for row in store.finals()
            if tuple(row[k] for k in ("protocol", "shift", "set", "model", "augment")) in known
        )
    finally:
        store.close()
    sections = [
        Section(
            "Where the data ends",
            [
                Text(
                    "One hundred points on either side of a gap. Above, the models as they are: in "
                    "the gap they are as sure of themselves as on the data, outside they are "
                    "anything. Below, the same models with PAD: where there is no data, the band "
                    "goes back to the spread of the labels."
                ),
                toy_block(studies, [[(name, a) for name in MODELS] for a in ("", "pad")]),
                Table(regions_table(studies)),
            ],
        ),
        Section(
            "A real table under shift",
            [
                Text(
                    "Diabetes: 442 patients, 10 measurements. Whole clusters of patients are held "
                    "out, so that a model is tested on people unlike those it has seen. Each model "
                    "was tuned over 12 settings on each of 5 such splits."
                ),
                Table(paper_layout(rows, "paper", "cluster", "nll"), to_csv(rows), "diabetes.csv"),
                Table(deltas(rows, "paper", "cluster", "nll")),
                Table(paper_layout(rows, "paper", "cluster", "ce")),
            ],
        ),
    ]
    text = page("reprior: what PAD does", sections, provenance)
    report = folder / "report.html"
    with whole_or_nothing(report) as file:
        file.write(text.encode())
    return report
