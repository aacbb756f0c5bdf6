import subprocess
import sys

import pytest

from reprior.contracts import InputError
from reprior.datasets import catalogue


def test_every_row_of_the_list_has_a_name_that_can_be_asked_for():
    assert [row.name for row in catalogue.describe()] == catalogue.names()


@pytest.mark.parametrize("name", ["toy", "diabetes", "digits"])
def test_what_is_at_hand_needs_no_file_and_is_described_rightly(name):
    table = catalogue.load(name)
    row = next(row for row in catalogue.describe() if row.name == name)
    assert table.x.shape == (row.rows, row.features)
    assert table.target == row.target
    assert catalogue.get(name) is None


def test_an_unknown_name_gets_the_nearest():
    for door in (catalogue.load, catalogue.get):
        with pytest.raises(InputError, match="No table is called 'houssing'; did you mean 'hous"):
            door("houssing")
    with pytest.raises(InputError, match="choose from: toy, "):
        catalogue.load("zzz")


def test_an_empty_cache_verifies_as_missing(cache):
    assert {check.state for check in catalogue.verify()} == {"missing"}


def test_a_folder_verifies_file_by_file(data_dir, tmp_path):
    assert {check.state for check in catalogue.verify(data_dir)} == {"ok"}
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "wine.csv").write_text("a,b\n1,2\n")
    states = {check.name: check.state for check in catalogue.verify(tmp_path)}
    assert states["wine"] == "altered"
    assert states["yacht"] == "missing"


def test_importing_the_room_loads_no_heavy_package():
    code = (
        "import sys, reprior.contracts; before = set(sys.modules)\n"
        "import reprior.datasets.catalogue\n"
        "print({'pandas', 'sklearn'} & (set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
