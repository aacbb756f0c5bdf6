"""The command line as people use it: results, resumption, and one sentence for bad input."""

import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from reprior.augment.catalogue import ABLATIONS
from reprior.benchmark.store import Store
from reprior.contracts import InputError
from reprior.doors import cli
from reprior.report import from_csv

SMALL = ("--splits", "2", "--epochs", "2", "--candidates", "2", "--protocols", "paper")


def command(*words):
    return [sys.executable, "-m", "reprior", *map(str, words)]


def reprior(*words, **environment):
    done = subprocess.run(
        command(*words),
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | environment,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def refused(monkeypatch, capsys):
    """Runs a command in this process and hands back the one sentence of its refusal."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["reprior", *map(str, words)])
        with pytest.raises(SystemExit) as ending:
            cli.main()
        error = capsys.readouterr().err
        assert ending.value.code == 2, error
        lines = error.strip().splitlines()
        assert len(lines) == 1, error
        assert lines[0].startswith("reprior: ")
        return lines[0]

    return run


@pytest.fixture
def uci(tmp_path):
    """A small made-up table under the name of a real set, in a folder as --data-dir wants it."""

    def write(name, header, rows):
        folder = tmp_path / "data" / "uci"
        folder.mkdir(parents=True, exist_ok=True)
        lines = [",".join(header), *(",".join(map(str, row)) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
        return tmp_path / "data"

    return write


def test_bench_writes_table_and_report_and_prints_both_measures(tmp_path):
    run = tmp_path / "run"
    code, out, error = reprior(
        "bench", "uci", "--sets", "diabetes", "--models", "mc_dropout", *SMALL,
        "--workers", 1, "--run", run,
    )  # fmt: skip
    assert code == 0, error
    assert error == ""
    assert "MC Dropout + PAD" in out
    rows = from_csv((run / "table.csv").read_text())
    assert [(row.augment, row.splits, row.diverged) for row in rows] == [("", 2, 0), ("pad", 2, 0)]
    assert all(np.isfinite([row.nll_mean, row.ce_mean]).all() for row in rows)
    assert np.isfinite([rows[1].nll_delta, rows[1].nll_delta_se]).all()
    assert "coverage90" in (run / "measures.csv").read_text()
    page = (run / "report.html").read_text()
    assert "<svg" in page
    assert str(tmp_path) not in page
    for style in ("md", "latex", "csv"):
        code, out, _ = reprior("report", run, "--format", style)
        assert code == 0
        assert ("mc_dropout" if style == "csv" else "MC Dropout") in out


def stored(run):
    try:
        with closing(sqlite3.connect(f"file:{run / 'store.sqlite'}?mode=ro", uri=True)) as db:
            return db.execute("select count(*) from populations").fetchone()[0]
    except sqlite3.Error:
        return 0


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_killed_between_and_inside_populations_ends_with_the_same_table(tmp_path, workers):
    words = (
        "bench", "uci", "--sets", "diabetes", "--models", "mc_dropout,deep_ensemble", *SMALL,
        "--workers", workers, "--quiet", "--run",
    )  # fmt: skip
    assert reprior(*words, tmp_path / "calm")[0] == 0
    run, kills = tmp_path / "killed", []
    for _ in range(30):
        before = stored(run)
        going = subprocess.Popen(
            command(*words, run), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        while len(kills) < 3 and going.poll() is None and stored(run) == before:
            time.sleep(0.01)
        if len(kills) < 3 and going.poll() is None:
            # First as soon as a population is stored, then well inside the next one.
            time.sleep(0.3 * (len(kills) % 2))
            going.send_signal(signal.SIGKILL)
            kills.append(stored(run))
        _, error = going.communicate()
        if going.returncode == 0:
            break
        assert going.returncode == -signal.SIGKILL, error
    assert len(kills) >= 2
    assert going.returncode == 0
    calm, killed = (Path(tmp_path, name, "table.csv").read_text() for name in ("calm", "killed"))
    assert calm == killed


def test_an_ablation_changes_one_thing_at_a_time_and_tells_it_against_the_whole(tmp_path):
    words = ("--sets", "diabetes", "--models", "mc_dropout", *SMALL, "--workers", 1)
    code, out, error = reprior("bench", "ablation", *words, "--run", tmp_path)
    assert code == 0, error
    assert "PAD without A" in out
    assert "PAD, twice as many" in out
    rows = {row.augment: row for row in from_csv((tmp_path / "ablation.csv").read_text())}
    assert set(rows) == {"", "pad", *ABLATIONS}
    a, whole = rows["pad-without-a"], rows["pad"]
    assert a.nll_delta == pytest.approx(a.nll_mean - whole.nll_mean)
    assert math.isnan(whole.nll_delta)
    assert "Ablation" in (tmp_path / "report.html").read_text()


def test_a_finished_run_is_not_done_again(tmp_path):
    words = ("bench", "uci", "--sets", "diabetes", "--models", "mc_dropout", *SMALL,
             "--workers", 1, "--run", tmp_path / "run")  # fmt: skip
    assert reprior(*words)[0] == 0
    with closing(sqlite3.connect(tmp_path / "run" / "store.sqlite")) as db:
        before = db.execute("select * from populations").fetchall()
    assert reprior(*words)[0] == 0
    with closing(sqlite3.connect(tmp_path / "run" / "store.sqlite")) as db:
        assert db.execute("select * from populations").fetchall() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--sets", "yahct"), "did you mean 'yacht'"),
        (("--models", "mc_droput"), "did you mean 'mc_dropout'"),
        (("--augments", "padd"), "did you mean 'pad'"),
        (("--protocols", "fairr"), "did you mean 'fair'"),
        (("--device", "tpu", "--sets", "diabetes"), "choose 'cpu' or 'cuda'"),
        (("--splits", "0"), "must be at least 1"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_known(tmp_path, refused, words, said):
    assert said in refused("bench", "uci", *words, "--run", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_device_that_is_not_there_is_refused(tmp_path, refused, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    words = ("--sets", "diabetes", "--device", "cuda", "--run", tmp_path / "run")
    assert "no GPU" in refused("bench", "uci", *words)


def test_a_set_that_was_not_fetched_is_refused_with_what_to_do(tmp_path, refused, monkeypatch):
    monkeypatch.setenv("REPRIOR_CACHE", str(tmp_path))
    said = refused("bench", "uci", "--sets", "yacht", "--run", tmp_path / "run")
    assert "reprior data get yacht" in said or "--data-dir" in said


GOOD = np.random.default_rng(0).normal(size=(60, 7)).round(3).tolist()
HEADER = [*(f"f{i}" for i in range(6)), "resistance"]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda rows: rows[7].__setitem__(2, "nan"), "f2"),
        (lambda rows: rows[7].__setitem__(2, "high"), "high"),
        (lambda rows: rows[7].__setitem__(2, "inf"), "f2"),
        (lambda rows: [row.__setitem__(6, 1.5) for row in rows], "same target"),
        (lambda rows: rows.__delitem__(slice(6, None)), "6 rows"),
    ],
    ids=["nan", "text", "infinite", "constant target", "fewer rows than clusters"],
)
def test_a_spoiled_table_is_refused_in_one_sentence_and_nothing_is_written(
    tmp_path, uci, refused, spoil, said
):
    rows = [list(row) for row in GOOD]
    spoil(rows)
    file, run = uci("boats", HEADER, rows) / "uci" / "boats.csv", tmp_path / "run"
    words = ("bench", "uci", "--sets", file, "--run", run, "--workers", 1)
    assert said in refused(*words)
    assert not (run / "table.csv").exists()
    assert stored(run) == 0


def test_a_file_that_is_not_the_set_it_is_named_after_is_refused(tmp_path, uci, refused):
    folder = uci("yacht", HEADER, GOOD)
    words = ("bench", "uci", "--sets", "yacht", "--data-dir", folder, "--run", tmp_path / "run")
    assert "altered" in refused(*words)


def test_ones_own_table_with_constant_and_repeated_columns_can_be_benchmarked(tmp_path, uci):
    rows = [[1.0, row[1], row[1], *row[3:]] for row in GOOD]
    file = uci("boats", HEADER, rows) / "uci" / "boats.csv"
    words = ("--models", "deep_ensemble", *SMALL, "--workers", 1, "--run", tmp_path / "run")
    code, out, error = reprior("bench", "uci", "--sets", file, *words)
    assert code == 0, error
    assert "boats" in out


def test_a_run_without_results_and_an_unknown_format_are_refused(tmp_path, refused):
    assert "reprior bench" in refused("report", tmp_path / "nothing")
    assert "choose from" in refused("report", tmp_path, "--format", "docx")


def test_bad_input_ends_without_a_traceback_for_whoever_calls_the_program():
    code, _, error = reprior("bench", "uci", "--sets", "yahct")
    assert code == 2
    assert "Traceback" not in error
    assert len(error.strip().splitlines()) == 1


def test_results_of_other_conditions_are_refused(tmp_path, refused):
    store = Store(tmp_path / "store.sqlite")
    store.belongs_to({"splits": 10, "epochs": 50, "candidates": 12, "seed": 0, "device": "cpu"})
    store.close()
    said = refused("bench", "uci", "--sets", "diabetes", *SMALL, "--run", tmp_path)
    assert "splits 10" in said
    assert "another --run folder" in said


def test_a_second_run_on_the_same_folder_is_refused(tmp_path, refused):
    store = Store(tmp_path / "store.sqlite")
    said = refused("bench", "uci", "--sets", "diabetes", *SMALL, "--run", tmp_path)
    store.close()
    assert "Another run" in said


def test_no_space_left_is_one_sentence_and_keeps_what_was_stored(tmp_path, refused, monkeypatch):
    def full(self, *_):
        raise InputError("The results file cannot be used (database or disk is full).")

    monkeypatch.setattr(Store, "add", full)
    words = ("--models", "mc_dropout", *SMALL, "--workers", 1, "--run", tmp_path)
    assert "disk is full" in refused("bench", "uci", "--sets", "diabetes", *words)
    assert stored(tmp_path) == 0


def test_data_list_names_every_set_and_get_says_what_needs_no_file():
    code, out, _ = reprior("data", "list")
    assert code == 0
    for name in ("housing", "concrete", "energy", "kin8nm", "naval", "power", "wine", "yacht"):
        assert f"\n{name} " in f"\n{out}"
    assert "needs no file" in reprior("data", "get", "diabetes")[1]


def test_data_verify_refuses_an_altered_file(tmp_path, uci, refused):
    folder = uci("yacht", HEADER, GOOD)
    assert "yacht" in refused("data", "verify", "--data-dir", folder)
