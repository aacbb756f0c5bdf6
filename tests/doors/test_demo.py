import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from reprior.benchmark import toy
from reprior.doors import demo


@pytest.fixture
def report(tmp_path, monkeypatch):
    monkeypatch.setattr(toy, "EPOCHS", 2)
    monkeypatch.setattr(demo, "DIABETES", replace(demo.DIABETES, splits=2, epochs=2, candidates=2))
    told = []
    path = demo.demo(tmp_path, 1, lambda *step: told.append(step))
    assert told[-1][1] == told[-1][2]
    return path


def test_the_page_needs_nothing_but_itself_and_shows_every_model(report):
    text = report.read_text()
    links = []

    class Links(HTMLParser):
        def handle_starttag(self, tag, attributes):
            links.extend(v for k, v in attributes if k in ("src", "href"))

    Links().feed(text)
    assert links
    assert all(link.startswith(("#", "data:")) for link in links)
    for model in ("MC Dropout", "Deep Ensemble", "MC Dropout + PAD", "Deep Ensemble + PAD"):
        assert model in text
    assert "<svg" in text
    assert str(report.parent) not in text


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_the_page_opens_in_a_browser_without_a_console_message(report, tmp_path):
    opened = subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}",
            "--enable-logging=stderr", "--dump-dom", report.as_uri(),
        ],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "CONSOLE" not in opened.stderr
    assert "</html>" in opened.stdout
