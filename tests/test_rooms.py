"""Rooms and the one direction between them: every import of the package against one table."""

import ast
from pathlib import Path

import pytest

import reprior

HOME = Path(reprior.__file__).parent

# What each room may import; what those may import it may import too. A room may import itself.
ROOMS = {
    "notation": [],
    "contracts": ["notation"],
    "likelihoods": ["contracts"],
    "networks": ["contracts"],
    "datasets": ["contracts"],
    "shifts": ["contracts"],
    "population": ["contracts"],
    "metrics": ["likelihoods"],
    "augment": ["likelihoods", "networks"],
    "models": ["likelihoods", "networks"],
    "training": ["population", "augment", "models"],
    "posthoc": ["metrics"],
    "benchmark": ["training", "posthoc", "metrics", "datasets", "shifts"],
    "report": ["benchmark"],
    "doors": ["report"],
}
# The package itself: names of what lies within, and `python -m reprior`.
PACKAGE = ("__init__", "__main__")
# Within doors, these know nothing of the rest.
FIRST_DOORS = ("estimators", "module", "splitters")
# Optional packages enter through one file each.
OPTIONAL = ("ray", "lightning", "gpytorch")


def allowed(room):
    """Every room that `room` may import, itself included."""
    found = {room}
    for other in ROOMS[room]:
        found |= allowed(other)
    return found


def imports(source):
    """Names of all modules a source imports, wherever in it, also by import_module("...")."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            yield from (f"{name}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = node.args[0] if node.args else None
            if called == "import_module" and isinstance(given, ast.Constant):
                yield str(given.value)


def complaints(path, source):
    """What is wrong with the imports of the file at `path`, relative to the package."""
    parts = Path(path).with_suffix("").parts
    room, found = parts[0], []
    if room in PACKAGE:
        return found
    if room not in ROOMS:
        return [f"{path} is in no room of the table"]
    for name in imports(source):
        if name.startswith("."):
            found.append(f"{path} imports {name}: write the whole name")
        if name != "reprior" and not name.startswith("reprior."):
            continue
        target = name.split(".")[1:]
        if not target or target[0] not in ROOMS:
            if target != ["__version__"]:
                found.append(f"{path} imports {name}, which is no room")
        elif target[0] not in allowed(room):
            found.append(f"{path} imports {name}, but {room} may not import {target[0]}")
        elif (
            room == target[0] == "doors"
            and parts[1] in FIRST_DOORS
            and target[1:]
            and target[1] not in FIRST_DOORS
        ):
            found.append(f"{path} imports {name}, a door that stands behind it")
    return found


def sources():
    return {str(path.relative_to(HOME)): path.read_text() for path in HOME.rglob("*.py")}


def test_no_room_imports_what_lies_above_or_beside_it():
    found = [line for path, source in sources().items() for line in complaints(path, source)]
    assert not found, "\n".join(found)


def test_the_table_has_no_ring_and_names_every_room():
    for room in ROOMS:
        assert all(room not in allowed(other) for other in ROOMS[room])
    rooms = {Path(path).parts[0].removesuffix(".py") for path in sources()} - set(PACKAGE)
    assert rooms <= set(ROOMS)


def test_each_optional_package_enters_through_one_file():
    for package in OPTIONAL:
        users = [
            path
            for path, source in sources().items()
            if any(name.split(".")[0] == package for name in imports(source))
        ]
        assert len(users) <= 1, users


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("augment/pad.py", "from reprior.population.layout import Batches"),
        ("augment/pad.py", "import reprior.models.swag"),
        ("metrics/crps.py", "def late():\n    from reprior.datasets import toy"),
        ("datasets/toy.py", "from reprior.shifts import clusters"),
        ("contracts.py", "from reprior.likelihoods import Gaussian"),
        ("training/fit.py", "from reprior import benchmark"),
        ("models/swag.py", "from importlib import import_module\nimport_module('reprior.doors')"),
        ("models/swag.py", "from . import mc_dropout"),
        ("models/swag.py", "from reprior import *"),
        ("doors/estimators.py", "from reprior.doors.cli import main"),
        ("cellar/wine.py", ""),
    ],
)
def test_a_wrong_import_is_noticed(path, source):
    assert complaints(path, source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("augment/pad.py", "from reprior.likelihoods import Gaussian\nimport torch"),
        ("training/fit.py", "from reprior.contracts import Model"),
        ("benchmark/run.py", "from reprior.likelihoods import mixture"),
        ("doors/cli.py", "from reprior.doors import audit\nfrom reprior import __version__"),
        ("models/swag.py", "from reprior.models import mc_dropout"),
        ("models/swag.py", "import reprior_extras"),
        ("__init__.py", "from reprior.doors.module import PAD"),
    ],
)
def test_a_right_import_is_let_through(path, source):
    assert not complaints(path, source)
