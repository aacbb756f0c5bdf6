"""Where a result comes from, in words that may be published: no paths, users or hosts."""

import json
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from itertools import pairwise
from pathlib import Path

from reprior import __version__

PACKAGES = ("torch", "numpy", "scikit-learn")
# A path that says more than a name: absolute, from home, upwards, or from a drive.
_REVEALING_PATH = re.compile(r"(/|~|\.\.[/\\]|\\\\|[A-Za-z]:[/\\])")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*://.*|[^/\\]+:\d{3,5}(/.*)?|.*@.*|\d+(\.\d+){3})", re.I)
_ADDRESS_OPTIONS = ("--ray",)


def collect_provenance(
    device: str, command: Sequence[str] | None = None, seconds: float | None = None
) -> dict[str, str]:
    """What to print under a report, in reading order.

    device   in words, for example "cpu" or "NVIDIA H200"
    command  program and arguments; those of this process if not given
    seconds  how long the work took, if known
    """
    facts = {"command": public_command(sys.argv if command is None else command)}
    facts["date"] = datetime.now(UTC).isoformat(timespec="seconds")
    if seconds is not None:
        facts["seconds"] = f"{seconds:.1f}"
    facts["device"] = device
    facts["platform"] = f"{platform.system()} {platform.machine()}"
    facts["python"] = platform.python_version()
    facts["reprior"] = __version__
    facts |= {package: _version(package) for package in PACKAGES}
    revision = git_revision(Path(__file__))
    return facts | ({"git revision": revision} if revision else {})


def save_rows(path: Path, rows: Sequence[Mapping[str, object]], device: str) -> None:
    """Measured rows as JSON, and beside them, as `<name>.made.json`, how they were made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(list(rows), indent=1) + "\n")
    made = json.dumps(collect_provenance(device), indent=1)
    path.with_suffix(".made.json").write_text(made + "\n")


def public_command(command: Sequence[str]) -> str:
    """The command as one would type it, with files by their names and addresses left out."""
    if not command:
        return ""
    program = Path(command[0]).name
    words = ["reprior" if program == "__main__.py" else program]
    for previous, word in pairwise(command):
        option, equals, value = word.rpartition("=")
        about_address = previous in _ADDRESS_OPTIONS or option in _ADDRESS_OPTIONS
        words.append(option + equals + _public(value, about_address))
    return shlex.join(words)


def git_revision(file: Path) -> str | None:
    """The revision of the checkout that tracks this file; None if none does, never an error."""
    try:
        # An installed package inside someone's checkout is not tracked by it.
        _git(file, "ls-files", "--error-unmatch", file.name)
        return _git(file, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return None


def _git(file: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(file.parent), *arguments],
        capture_output=True,
        check=True,
        text=True,
        timeout=10,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
    ).stdout.strip()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _public(word: str, about_address: bool) -> str:
    if (about_address and word not in ("auto", "local")) or _ADDRESS.fullmatch(word):
        return "ADDRESS"
    if _REVEALING_PATH.match(word):
        return re.split(r"[/\\]", word.rstrip("/\\"))[-1]
    return word
