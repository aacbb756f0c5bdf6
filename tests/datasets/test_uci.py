import hashlib
import json
import threading
import zipfile
from dataclasses import replace
from http.server import HTTPServer, SimpleHTTPRequestHandler

import numpy as np
import pandas as pd
import pytest

from reprior.contracts import InputError
from reprior.datasets import uci, uci_layouts
from reprior.datasets.fetch import Download

NAMES = list(uci.SOURCES)


def test_the_eight_are_the_papers():
    assert sorted(NAMES) == [
        "concrete", "energy", "housing", "kin8nm", "naval", "power", "wine", "yacht",
    ]  # fmt: skip


def test_a_set_that_is_nowhere_says_how_to_get_it(tmp_path, cache):
    with pytest.raises(InputError, match=r"`reprior data get wine`.*--data-dir") as caught:
        uci.load("wine", tmp_path)
    assert str(cache) in str(caught.value)


def test_an_unknown_set_gets_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'yacht'"):
        uci.load("yatch")


@pytest.mark.parametrize("name", NAMES)
def test_the_real_file_has_the_pinned_content(name, data_dir):
    source = uci.SOURCES[name]
    table = uci.load(name, data_dir)
    assert uci.state(name, uci.file_of(name, data_dir)) == "ok"
    assert table.x.shape == (source.rows, len(table.features))
    assert [*table.features, table.target] == source.names
    assert (table.y.min(), table.y.max()) == source.target_range


def test_naval_has_its_two_constant_columns(data_dir):
    constant = np.ptp(uci.load("naval", data_dir).x, axis=0) == 0
    assert constant.nonzero()[0].tolist() == [8, 11]


def as_published(name, rows, folder):
    """The file of an official download, made from our rows by the layout it is known to have."""
    path = folder / (uci.SOURCES[name].member or "download")
    if name in ("housing", "yacht"):
        path.write_text("".join(f" {'  '.join(row)} \n" for row in rows) + " \n")
    elif name == "naval":
        path.write_text("".join(f"   {'   '.join(row)}   1.0000000e+00 \r\n" for row in rows))
    elif name == "wine":
        path.write_text('"fixed acidity";"quality"\n' + "\n".join(map(";".join, rows)))
    elif name == "kin8nm":
        lines = (",".join(repr(float(token)) for token in row) for row in rows)
        path.write_text("% words\n@relation kin8nm\n\n@data\n" + "\n".join(lines))
    return path


@pytest.mark.parametrize("name", ["housing", "yacht", "naval", "wine", "kin8nm"])
def test_the_official_text_becomes_the_pinned_file(name, data_dir, tmp_path):
    rows = [line.split(",") for line in uci.file_of(name, data_dir).read_text().split()[1:]]
    content = uci.canonical(name, as_published(name, rows, tmp_path))
    assert hashlib.sha256(content).hexdigest() == uci.SOURCES[name].sha256


def test_statlibs_layout_of_housing_becomes_the_same_file(data_dir, tmp_path):
    rows = [line.split(",") for line in uci.file_of("housing", data_dir).read_text().split()[1:]]
    lines = [f" {' '.join(row[:11])}\n  {' '.join(row[11:])}\n" for row in rows]
    (tmp_path / "boston").write_text(" Some words, 22 lines\n" * 22 + "".join(lines))
    content = uci.canonical("housing", tmp_path / "boston")
    assert hashlib.sha256(content).hexdigest() == uci.SOURCES["housing"].sha256


@pytest.mark.parametrize("name", ["concrete", "energy", "power"])
def test_the_official_sheets_become_the_pinned_file(name, data_dir, tmp_path, monkeypatch):
    sheet = pd.read_csv(uci.file_of(name, data_dir)).astype(float)
    sheet.iloc[:, -1] += 0.003 * (-1.0) ** np.arange(len(sheet))  # unrounded, as UCI now has it
    sheet["another target"] = 1.0
    sheet = sheet.reindex(range(len(sheet) + 3))  # empty rows at the end
    shuffled = sheet.sample(frac=1, random_state=0)
    monkeypatch.setattr(pd, "read_excel", lambda *_, **__: {"S1": shuffled, "S2": sheet})
    content = uci.canonical(name, tmp_path)
    assert hashlib.sha256(content).hexdigest() == uci.SOURCES[name].sha256


def test_a_missing_reader_of_spreadsheets_is_named(tmp_path, monkeypatch):
    def missing(*_, **__):
        raise ImportError("no module")

    monkeypatch.setattr(pd, "read_excel", missing)
    for suffix, package in ((".xls", "xlrd"), (".xlsx", "openpyxl")):
        with pytest.raises(InputError, match=f"pip install {package}"):
            list(uci_layouts.spreadsheet(1)(tmp_path / f"a{suffix}"))


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A set of three rows named yacht, served from this machine; (source, folder served)."""
    text = "1 2 3 4 5 6 7\n2 3 4 5 6 7 8\n3 4 5 6 7 8 9\n"
    source = uci.SOURCES["yacht"]
    csv = source.columns + "\n" + text.replace(" ", ",")
    served = tmp_path / "served"
    served.mkdir()
    with zipfile.ZipFile(served / "yacht.zip", "w") as archive:
        archive.writestr("yacht_hydrodynamics.data", text)

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(served))

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        source = replace(
            source,
            rows=3,
            sha256=hashlib.sha256(csv.encode()).hexdigest(),
            target_range=(7.0, 9.0),
            downloads=(Download(f"{address}/moved.zip"), Download(f"{address}/yacht.zip")),
        )
        monkeypatch.setitem(uci.SOURCES, "yacht", source)
        yield source
        server.shutdown()


def test_a_set_is_fetched_once_from_the_first_address_that_works(small, cache):
    path = uci.get("yacht")
    assert path == cache / "uci" / "yacht.csv"
    assert uci.state("yacht", path) == "ok"
    assert list(path.parent.iterdir()) == [path]
    np.testing.assert_array_equal(uci.load("yacht").y, [7, 8, 9])
    before = path.stat().st_mtime_ns
    assert uci.get("yacht").stat().st_mtime_ns == before


def test_the_users_folder_goes_before_the_cache(small, tmp_path):
    mine = uci.file_of("yacht", tmp_path / "mine")
    mine.parent.mkdir(parents=True)
    mine.write_bytes(uci.get("yacht").read_bytes())
    uci.file_of("yacht").unlink()
    assert len(uci.load("yacht", tmp_path / "mine").y) == 3


def test_new_digits_at_the_source_load_with_a_warning(small, monkeypatch):
    monkeypatch.setitem(uci.SOURCES, "yacht", replace(small, sha256="0" * 64))
    path = uci.get("yacht")
    assert uci.state("yacht", path) == "unpinned"
    with pytest.warns(UserWarning, match="differs in digits or order"):
        assert len(uci.load("yacht").y) == 3
    noted = json.loads(path.with_suffix(".origin.json").read_text())
    assert noted["url"].endswith("yacht.zip")


def test_an_altered_or_truncated_file_is_refused(small):
    path = uci.get("yacht")
    whole = path.read_bytes()
    for broken in (whole[:-4], whole.replace(b"9", b"8")):
        path.write_bytes(broken)
        assert uci.state("yacht", path) == "altered"
        with pytest.raises(InputError, match="truncated or altered"):
            uci.load("yacht")
    assert uci.state("yacht", uci.get("yacht")) == "ok"  # fetched anew


@pytest.mark.parametrize("change", [{"rows": 4}, {"target_range": (7.0, 99.0)}])
def test_a_download_that_holds_something_else_is_refused(small, cache, monkeypatch, change):
    monkeypatch.setitem(uci.SOURCES, "yacht", replace(small, sha256="0" * 64, **change))
    with pytest.raises(InputError, match="altered or has a new layout"):
        uci.get("yacht")
    assert not list((cache / "uci").iterdir())
