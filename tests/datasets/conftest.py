import os
from pathlib import Path

import pytest


@pytest.fixture
def data_dir() -> Path:
    """The real sets, where the one who runs the tests has them."""
    folder = os.environ.get("REPRIOR_DATA_DIR")
    if not folder:
        pytest.skip("REPRIOR_DATA_DIR names no folder with uci/<name>.csv")
    return Path(folder)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REPRIOR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
