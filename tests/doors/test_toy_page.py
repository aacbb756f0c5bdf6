import csv
import sys

import pytest

from reprior.benchmark import toy
from reprior.doors import cli
from reprior.doors.toy_page import in_rows


def test_augmentations_stand_below_their_models_and_models_without_any_come_last():
    wanted = [("a", ""), ("a", "pad"), ("b", ""), ("b", "pad"), ("c", ""), ("c", "pad")]
    wanted += [("gp", ""), ("d", ""), ("d", "pad")]
    assert in_rows(wanted) == [
        [("a", ""), ("b", ""), ("c", "")],
        [("a", "pad"), ("b", "pad"), ("c", "pad")],
        [("d", "")],
        [("d", "pad")],
        [("gp", "")],
    ]


def test_the_command_shows_every_model_it_was_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(toy, "EPOCHS", 2)
    words = ["--models", "swag,gaussian_process", "--seeds", "2", "--run", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["reprior", "bench", "toy", *words])
    with pytest.raises(SystemExit) as ending:
        cli.main()
    assert ending.value.code == 0
    rows = list(csv.DictReader((tmp_path / "toy.csv").read_text().splitlines()))
    assert [(row["model"], row["augment"]) for row in rows] == [
        ("swag", ""),
        ("swag", "pad"),
        ("gaussian_process", ""),
    ]
    assert float(rows[2]["gap_mixture_std"]) > 2 * float(rows[2]["data_mixture_std"])
    page = (tmp_path / "report.html").read_text()
    assert "SWAG + PAD" in page
    assert "Gaussian Process" in page
    assert "The report is at" in capsys.readouterr().out
