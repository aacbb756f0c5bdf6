"""The paper's eight regression sets, in the lineage of the splits by Hernández-Lobato and Adams.

Each is kept as one CSV file, target last, with the digits of its official source. That file is
pinned by its sha256. A source that has since changed its digits still loads, as "unpinned": then
rows may fall into other clusters than the frozen ones, and we say so.
"""

import hashlib
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from reprior.contracts import InputError, Table
from reprior.datasets.fetch import (
    Download,
    Progress,
    cache_folder,
    download,
    extract,
    sha256,
    whole_or_nothing,
)
from reprior.datasets.tables import nearest, read
from reprior.datasets.uci_layouts import (
    Layout,
    housing,
    scientific,
    semicolons,
    spaced,
    spreadsheet,
)


@dataclass(frozen=True)
class Source:
    """What is known of one set, and how its official file becomes ours."""

    title: str
    rows: int
    columns: str  # D features, then the target
    sha256: str  # of the canonical CSV
    target_range: tuple[float, float]
    downloads: tuple[Download, ...]  # tried in this order
    layout: Layout  # of the official file
    member: str | None = None  # of the archive, if it is one
    licence: str = "CC BY 4.0 (UCI)"

    @property
    def names(self) -> list[str]:
        return self.columns.split(",")


SOURCES = {
    "housing": Source(
        title="Boston Housing",
        rows=506,
        columns="CRIM,ZN,INDUS,CHAS,NOX,RM,AGE,DIS,RAD,TAX,PTRATIO,B,LSTAT,MEDV",
        sha256="ebf8b4a9ceaf375f9591be7b862b3eafc6efc952251e77f09dd6c2df9e216ba0",
        target_range=(5.0, 50.0),
        downloads=(
            Download(
                "https://archive.ics.uci.edu/ml/machine-learning-databases/housing/housing.data",
                "md5:d4accdce7a25600298819f8e28e8d593",
            ),
            Download("https://lib.stat.cmu.edu/datasets/boston"),
        ),
        layout=housing,
        licence="none stated; withdrawn from UCI's catalogue",
    ),
    "concrete": Source(
        title="Concrete",
        rows=1030,
        columns="cement,blast_furnace_slag,fly_ash,water,superplasticizer,coarse_aggregate,"
        "fine_aggregate,age,compressive_strength",
        sha256="a7b551df57aaa38ccb9cb7cd1e4e3863a94de25a7192e783cb9d3f061412e162",
        target_range=(2.33, 82.6),
        downloads=(
            Download(
                "https://archive.ics.uci.edu/static/public/165/concrete+compressive+strength.zip"
            ),
        ),
        member="Concrete_Data.xls",
        layout=spreadsheet(1, 1, 1, 1, 1, 1, 1, 0, 2),
    ),
    "energy": Source(
        title="Energy",
        rows=768,
        columns="relative_compactness,surface_area,wall_area,roof_area,overall_height,orientation,"
        "glazing_area,glazing_area_distribution,heating_load",
        sha256="de96ade93afe05be107b571c5a201a9c6247b1ac74fb06154799bc7162894920",
        target_range=(6.01, 43.1),
        downloads=(
            Download("https://archive.ics.uci.edu/static/public/242/energy+efficiency.zip"),
        ),
        member="ENB2012_data.xlsx",
        layout=spreadsheet(2, 2, 2, 2, 2, 0, 2, 0, 2),
    ),
    "kin8nm": Source(
        title="Kin8nm",
        rows=8192,
        columns="theta1,theta2,theta3,theta4,theta5,theta6,theta7,theta8,y",
        sha256="fa953fd4646f0933034f07022dd3b5919be004edc065ac7715582fbb4ef49849",
        target_range=(0.040165378, 1.4585206),
        downloads=(Download("https://www.openml.org/data/download/3626/dataset_2175_kin8nm.arff"),),
        layout=scientific,
        licence="none stated (DELVE)",
    ),
    "naval": Source(
        title="Naval propulsion",
        rows=11934,
        columns="lever_position,ship_speed,gt_shaft_torque,gt_rate_of_revolutions,"
        "gas_generator_rate_of_revolutions,starboard_propeller_torque,port_propeller_torque,"
        "hp_turbine_exit_temperature,gt_compressor_inlet_temperature,"
        "gt_compressor_outlet_temperature,hp_turbine_exit_pressure,gt_compressor_inlet_pressure,"
        "gt_compressor_outlet_pressure,gt_exhaust_gas_pressure,turbine_injection_control,"
        "fuel_flow,gt_compressor_decay_state_coefficient",
        sha256="062ecb2be1b675bcec7fc2dc1f25e286c5e16155c0055eb5e7564a5ad9bf3471",
        target_range=(0.95, 1.0),
        downloads=(
            Download(
                "https://archive.ics.uci.edu/static/public/316/"
                "condition+based+maintenance+of+naval+propulsion+plants.zip"
            ),
        ),
        member="data.txt",
        layout=spaced(17),  # the eighteenth is a second target, left out in this lineage
    ),
    "power": Source(
        title="Power plant",
        rows=9568,
        columns="AT,V,AP,RH,PE",
        sha256="76855630b59fb9b2ef08e02d5907f8c73f18d97a476ac25f06cca6dd7fe2df21",
        target_range=(420.26, 495.76),
        downloads=(
            Download(
                "https://archive.ics.uci.edu/static/public/294/combined+cycle+power+plant.zip"
            ),
        ),
        member="Folds5x2_pp.xlsx",
        layout=spreadsheet(None, None, None, None, None),  # five sheets: the rows in five orders
    ),
    "wine": Source(
        title="Wine quality, red",
        rows=1599,
        columns="fixed_acidity,volatile_acidity,citric_acid,residual_sugar,chlorides,"
        "free_sulfur_dioxide,total_sulfur_dioxide,density,pH,sulphates,alcohol,quality",
        sha256="b51c8ee6ca1f66473bd98042780da9ce3eceaf6fe113441e8f2c3ee593b02318",
        target_range=(3.0, 8.0),
        downloads=(Download("https://archive.ics.uci.edu/static/public/186/wine+quality.zip"),),
        member="winequality-red.csv",
        layout=semicolons,
    ),
    "yacht": Source(
        title="Yacht",
        rows=308,
        columns="longitudinal_position_of_center_of_buoyancy,prismatic_coefficient,"
        "length_displacement_ratio,beam_draught_ratio,length_beam_ratio,froude_number,"
        "residuary_resistance",
        sha256="f5273cc4a608660670f955b4fcb60833f5d189c9c38d9bae8d2affcf0519ce5f",
        target_range=(0.01, 62.42),
        downloads=(
            Download("https://archive.ics.uci.edu/static/public/243/yacht+hydrodynamics.zip"),
        ),
        member="yacht_hydrodynamics.data",
        layout=spaced(7),
    ),
}


def load(name: str, data_dir: Path | str | None = None) -> Table:
    """One of the eight, from <data_dir>/uci/<name>.csv or else from the cache. Never downloads."""
    source = _source(name)
    looked = [file_of(name, data_dir)] if data_dir is not None else []
    looked.append(file_of(name))
    path = next((path for path in looked if path.is_file()), None)
    if path is None:
        raise InputError(
            f"{name} was looked for at {' and '.join(map(str, looked))} and is not there; run "
            f"`reprior data get {name}`, or point --data-dir at a folder that has uci/{name}.csv."
        )
    found = state(name, path)
    if found == "altered":
        raise InputError(
            f"{path} is not the {name} set we know (sha256 {sha256(path)[:12]}…, expected "
            f"{source.sha256[:12]}…): truncated or altered; remove it and run "
            f"`reprior data get {name}`."
        )
    if found == "unpinned":
        warnings.warn(
            f"{name} as downloaded differs in digits or order from the pinned file, so its "
            "clusters may differ from the frozen ones.",
            stacklevel=2,
        )
    return read(path)


def get(name: str, cache: Path | str | None = None, progress: Progress | None = None) -> Path:
    """The set's CSV in the cache, downloaded and converted unless it is there in good order."""
    source = _source(name)
    path = file_of(name, cache)
    if state(name, path) in ("ok", "unpinned"):
        return path
    with whole_or_nothing(path) as file, TemporaryDirectory(dir=path.parent) as folder:
        raw, url = _first_reachable(source, Path(folder) / "download", progress)
        if source.member:
            raw = extract(raw, source.member, Path(folder))
        content = canonical(name, raw)
        file.write(content)
        if _digest(content) != source.sha256:
            with whole_or_nothing(_origin(path)) as note:
                note.write(json.dumps({"url": url, "sha256": _digest(content)}).encode())
    return path


def canonical(name: str, raw: Path) -> bytes:
    """The official file as our CSV; the first reading that is pinned, else the first that fits."""
    source = _source(name)
    header = source.columns + "\n"
    fitting = None
    for lines in source.layout(raw):
        try:
            rows = list(lines)
        except ValueError:  # words where this reading expects numbers
            continue
        content = (header + "".join(f"{row}\n" for row in rows)).encode()
        if _digest(content) == source.sha256:
            return content
        if fitting is None and _fits(source, rows):
            fitting = content
    if fitting is None:
        raise InputError(
            f"The download of {name} does not hold {source.rows} rows of {len(source.names)} "
            f"finite numbers with {source.names[-1]} in its known range, so it was altered or has "
            f"a new layout; put uci/{name}.csv into a folder and point --data-dir at it."
        )
    return fitting


def state(name: str, path: Path) -> str:
    """ok: the pinned file. unpinned: as it was downloaded. altered: neither. missing."""
    if not path.is_file():
        return "missing"
    digest = sha256(path)
    if digest == _source(name).sha256:
        return "ok"
    try:
        noted = json.loads(_origin(path).read_text())["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        noted = None
    return "unpinned" if digest == noted else "altered"


def file_of(name: str, data_dir: Path | str | None = None) -> Path:
    """Where a set stands in a data folder; the cache is laid out as one."""
    return Path(data_dir or cache_folder()) / "uci" / f"{name}.csv"


def _source(name: str) -> Source:
    if name not in SOURCES:
        raise InputError(f"No UCI set is called {name!r}; {nearest(name, list(SOURCES))}")
    return SOURCES[name]


def _first_reachable(source: Source, path: Path, progress: Progress | None) -> tuple[Path, str]:
    failures = []
    for offered in source.downloads:
        try:
            return download(offered, path, progress), offered.url
        except InputError as error:
            failures.append(error)
    raise failures[0]


def _fits(source: Source, rows: list[str]) -> bool:
    try:
        cells = np.array([row.split(",") for row in rows], np.float64)
    except ValueError:
        return False
    return (
        cells.shape == (source.rows, len(source.names))
        and bool(np.isfinite(cells).all())
        # To the digits published: a source may have gone back to unrounded values.
        and np.allclose((cells[:, -1].min(), cells[:, -1].max()), source.target_range, atol=0.01)
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _origin(path: Path) -> Path:
    return path.with_suffix(".origin.json")  # what was downloaded, beside the file it became
