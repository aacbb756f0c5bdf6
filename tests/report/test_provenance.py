import getpass
import json
import re
import subprocess
import sys
from datetime import datetime, timedelta
from importlib import metadata
from pathlib import Path

import pytest

from reprior.report import provenance
from reprior.report.provenance import (
    collect_provenance,
    git_revision,
    public_command,
    save_rows,
)


def test_it_names_what_is_needed_to_run_again():
    facts = collect_provenance("NVIDIA H200", ["reprior", "bench", "uci"], seconds=12.34)
    assert facts["command"] == "reprior bench uci"
    assert (facts["device"], facts["seconds"]) == ("NVIDIA H200", "12.3")
    assert facts["torch"] == metadata.version("torch")
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))
    assert datetime.fromisoformat(facts["date"]).utcoffset() == timedelta(0)
    assert "seconds" not in collect_provenance("cpu")


def test_nothing_private_is_in_it(monkeypatch):
    home = str(Path.home() / "secret-project")
    argv = [f"{home}/env/bin/reprior", "audit", f"{home}/houses.csv", f"--out={home}/r.html"]
    monkeypatch.setattr(sys, "argv", argv)
    facts = collect_provenance("cpu")
    assert facts["command"] == "reprior audit houses.csv --out=r.html"
    private = [home, "secret", str(Path(__file__).parents[2])]
    assert not any(word in value for word in private for value in facts.values())
    assert not any(value.startswith("/") for value in facts.values())


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("/a/b/houses.csv", "houses.csv"),
        ("~ann/houses.csv", "houses.csv"),
        ("../ann/houses.csv", "houses.csv"),
        (r"C:\Users\ann\houses.csv", "houses.csv"),
        ("--data-dir=/home/ann/data/", "--data-dir=data"),
        ("ray://head.example:10001", "ADDRESS"),
        ("10.1.2.3:6379", "ADDRESS"),
        ("10.1.2.3", "ADDRESS"),
        ("ann@host:runs", "ADDRESS"),
        ("--ray=headnode", "--ray=ADDRESS"),
        ("--ray=auto", "--ray=auto"),
        ("runs/first", "runs/first"),
        ("pad+", "pad+"),
        ("cuda:0", "cuda:0"),
        ("0.5", "0.5"),
    ],
)
def test_words_are_shown_as_far_as_they_may_be_published(word, shown):
    assert public_command(["reprior", word]) == f"reprior {shown}"


def test_a_host_after_its_option_is_left_out():
    assert public_command(["reprior", "bench", "--ray", "node7"]).endswith("--ray ADDRESS")


def test_words_with_spaces_are_quoted():
    assert public_command(["reprior", "--target", "my price"]) == "reprior --target 'my price'"


def test_a_module_run_by_python_goes_by_its_command():
    assert public_command(["/x/reprior/doors/__main__.py", "demo"]) == "reprior demo"
    assert public_command([]) == ""


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_the_revision_is_that_of_the_checkout_that_tracks_the_file(tmp_path):
    git(tmp_path, "init", "--quiet")
    (tmp_path / "ours.py").write_text("1")
    (tmp_path / "other.py").write_text("1")
    git(tmp_path, "add", "ours.py")
    git(tmp_path, "commit", "--quiet", "--no-verify", "-m", "first")
    whole = git(tmp_path, "rev-parse", "HEAD")
    assert re.fullmatch("[0-9a-f]{12}", git_revision(tmp_path / "ours.py"))
    assert whole.startswith(git_revision(tmp_path / "ours.py"))
    assert git_revision(tmp_path / "other.py") is None
    (tmp_path / "ours.py").write_text("2")
    assert git_revision(tmp_path / "ours.py").endswith("-dirty")


def test_without_git_or_a_checkout_there_is_no_revision(tmp_path, monkeypatch):
    assert git_revision(tmp_path / "ours.py") is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_revision(Path(__file__)) is None


def test_a_package_that_is_not_there_is_said_to_be_missing(monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGES", ("no-such-package",))
    assert collect_provenance("cpu")["no-such-package"] == "not installed"


def test_the_user_is_not_named():
    values = " ".join(collect_provenance("cpu", ["reprior"]).values())
    assert not re.search(rf"\b{re.escape(getpass.getuser())}\b", values)


def test_saved_rows_stand_beside_how_they_were_made(tmp_path):
    rows = [{"members": 1, "us": 2.5}]
    save_rows(tmp_path / "new" / "cpu.json", rows, "cpu")
    assert json.loads((tmp_path / "new" / "cpu.json").read_text()) == rows
    made = json.loads((tmp_path / "new" / "cpu.made.json").read_text())
    assert made["device"] == "cpu"
    assert {"command", "date"} <= set(made)
