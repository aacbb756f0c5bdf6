# `make demo` and `make test` each work on a machine that has nothing but Python 3.11 and this folder.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all lint format bench clean

help:
	@echo "make demo      install, run the demonstration, say where its report is"
	@echo "make test      install, run the tests (make test-all: the slow ones too)"
	@echo "make lint      style and types"
	@echo "make bench     time the population engine on this machine"

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

install: $(VENV)/.installed

demo: install
	$(BIN)/reprior demo

test: install
	$(BIN)/python -m pytest

test-all: install
	$(BIN)/python -m pytest -m ""

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install
	$(BIN)/python benchmarks/population.py

clean:
	rm -rf $(VENV) build dist
