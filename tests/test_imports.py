"""Importing the package does nothing else: nothing heavy is loaded, and little time passes."""

import statistics
import subprocess
import sys

import pytest

HEAVY = (
    "sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "torchmetrics", "typer", "rich",
    "gpytorch", "lightning", "ray",
)  # fmt: skip


def python(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, reprior; print(*{name.split('.')[0] for name in sys.modules})"
    assert set(python(code).split()).isdisjoint(HEAVY)


def test_the_engine_needs_none_of_what_tables_and_reports_are_made_with():
    rooms = "population", "augment", "models", "training", "metrics", "likelihoods"
    code = "import sys, torch, torch._dynamo\n"
    code += "heavy = set(sys.modules)\n"
    code += "\n".join(f"import reprior.{room}" for room in rooms)
    code += "\nprint(*{name.split('.')[0] for name in set(sys.modules) - heavy})"
    assert set(python(code).split()).isdisjoint(HEAVY)


def test_importing_the_package_says_nothing_and_warns_of_nothing():
    assert python("import warnings; warnings.simplefilter('error'); import reprior") == ""


@pytest.mark.slow
def test_importing_the_package_takes_little_longer_than_importing_torch():
    def seconds(name):
        code = (
            f"import time; t = time.perf_counter(); import {name}; print(time.perf_counter() - t)"
        )
        return statistics.median(float(python(code)) for _ in range(7))

    assert seconds("reprior") <= seconds("torch") + 0.3
