# What can be done here. The work itself is in tools/ and threebrokers/.
PYTHON ?= python3
# The conda environment of environment.yml is used as it is, while it is active; otherwise .venv is made.
ifeq ($(CONDA_DEFAULT_ENV),threebrokers)
override PYTHON := $(CONDA_PREFIX)/bin/python
export PYTHONNOUSERSITE := 1
BIN := $(CONDA_PREFIX)/bin
KIND := conda
GET := run `conda env update -f environment.yml --prune`
else
BIN := .venv/bin
KIND :=
GET := install Python 3.11 or newer
endif
RUN := $(BIN)/python -m
# Set for other programs, these bring modules of theirs into the course, or change how its Python works.
unexport PYTHONPATH PYTHONHOME PYTHONSAFEPATH PYTHONSTARTUP PYTHONWARNINGS PYTHONOPTIMIZE PYTHONINSPECT PYTHONIOENCODING
# IPython would put the packages of another environment that is activated before those of the course.
unexport VIRTUAL_ENV
# With it every kernel and every command would compile its packages anew: 3.1 s in place of 1.2 s for a kernel.
unexport PYTHONDONTWRITEBYTECODE
EMPTY := echo 'Nothing is set up in $(BIN), so no broker was stopped; with conda, activate threebrokers first.'

help:  ## list this
	@awk -F ':.*## ' -v learn='^(lab|down|clean|test)$$' ' \
	/^[a-z-]+:.*##/ { line = sprintf("  make %-13s %s\n", $$1, $$2) } \
	/^[a-z-]+:.*##/ { if ($$1 ~ learn) first = first line; else if ($$1 != "help") rest = rest line } \
	END { printf "To learn:\n%sTo write labs (CONTRIBUTING.md):\n%s", first, rest }' Makefile

lab: runtime  ## set everything up, start three brokers, open JupyterLab (LAB=02 PORT=8890 BROWSER=none BUNDLE=file)
	@$(BIN)/threebrokers lab $(LAB)

test: authors  ## set everything up and run the tests (LAB=04: all of that lab; DOCKER=yes: containers too)
	@$(RUN) tools test $(if $(LAB),--lab $(LAB)) $(if $(DOCKER),--docker $(DOCKER)) $(TEST)

test-compose: authors  ## run only the tests that need Docker: the same brokers in containers
	@$(RUN) tools test --docker only $(TEST)

test-all: authors  ## run all tests, and every solution on containers too (Docker; weekly in CI)
	@$(RUN) tools test --docker all $(TEST)

repeat-tests: authors  ## run the tests that touch brokers many times (N=10 BUSY=2 LAB=04 PART=brokers DOCKER=yes)
	@$(RUN) tools repeat-tests --times $(or $(N),10) --busy $(or $(BUSY),0) $(if $(LAB),--lab $(LAB)) \
		$(if $(PART),--part "$(PART)") $(if $(DOCKER),--docker $(DOCKER)) $(TEST)

bench: runtime  ## measure the brokers and Spark on this machine: start, failover, memory
	@$(RUN) tools bench

bench-engines: authors  ## measure processes and containers beside each other (Docker; half an hour)
	@$(RUN) tools bench-engines

repeat: authors  ## run a solution many times and count what came true (LAB=04 N=20)
	@$(RUN) tools repeat $(LAB) --times $(or $(N),20)

demo: runtime  ## play a lab's experiment for an audience (LAB=04 RECORDED=yes BROWSER=none); without LAB: list them
	@$(BIN)/threebrokers demo $(LAB) $(if $(RECORDED),--recorded)

down:  ## stop the brokers; their data stays
	@if [ -x $(BIN)/threebrokers ]; then $(BIN)/threebrokers down; else $(EMPTY); fi

clean:  ## stop the brokers and delete all that was set up; work/ and your progress stay
	@if [ -x $(BIN)/threebrokers ]; then $(RUN) tools clean; else $(EMPTY); fi
	@rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache

build: authors  ## build labs/ and solutions/ from lessons/
	@$(RUN) tools build

run: authors  ## run the solutions whose sources changed, and keep their outputs
	@$(RUN) tools run

guide: authors  ## write the teacher's guide, HTML and PDF, to build/guide/ (Chromium)
	@$(RUN) tools guide

compose: authors  ## write the settings of threebrokers/cluster/settings.py into docker-compose.yml
	@$(RUN) tools compose

topics: authors  ## build the index and the glossary, docs/topics.md and docs/glossary.md, and list what no lab meets yet
	@$(RUN) tools topics

reliability: authors  ## run the tests of faults and write docs/reliability.md (TEST=tests/faults/test_fetches.py)
	@$(RUN) tools reliability $(TEST)

facts: authors  ## assert the facts about clients and write docs/facts.md
	@$(RUN) tools facts $(TEST)

guarantees: authors  ## run faults, and kill workers, 20 times each, and write what was lost and doubled, docs/guarantees.md (N=20)
	@$(RUN) tools guarantees --runs $(or $(N),20)

scaling: authors  ## measure how reading Kafka with Spark grows, and write docs/scaling.md (N=5)
	@$(RUN) tools scaling --runs $(or $(N),5)

machines: authors  ## run each solution in 4 GB and write docs/machines.md (root; LAB=13)
	@$(RUN) tools machines $(LAB)

room: authors  ## let learners work side by side and write docs/machines.md (LEARNERS=8 MINUTES=10)
	@$(RUN) tools machines --room $(or $(LEARNERS),8) --minutes $(or $(MINUTES),10)

pictures: authors  ## take the README's pictures anew, light and dark (Chromium)
	@$(RUN) tools pictures

walk: authors  ## work a lab in the browser, two mistakes an exercise, and keep pictures of each step, build/walk (LAB=06; Chromium)
	@$(RUN) tools walk --lab $(LAB)

slides: authors  ## build the decks of slides/ as pages and PDFs, build/slides (DECK=02; PDFs need Chromium)
	@$(RUN) tools slides $(DECK)

record-demos: authors  ## record the demos anew, on brokers (LAB=04)
	@$(RUN) tools record-demos $(LAB)

site: authors  ## write solutions, slides, recordings, terms and facts as static pages, build/site (LAB=04)
	@$(RUN) tools site $(LAB)

slides-check: authors  ## look at every slide in Chromium, in the sizes of two projectors (DECK=02)
	@$(RUN) tools slides --check $(DECK)

lint: authors  ## check style, types, who imports whom, and what is declared
	@$(RUN) tools lint

lock: authors  ## resolve Kafka's and Spark's jars anew (versions: tools/publish/jars_lock.py)
	@$(RUN) tools lock

lock-python: authors  ## resolve the Python packages anew, with their hashes (newer ones: tools/publish/requirements.py)
	@$(RUN) tools lock-python

wheel: authors  ## build the package for those who have no clone, into dist/: a wheel and an sdist
	@$(RUN) tools wheel

runtime authors:
	@command -v $(PYTHON) >/dev/null || { echo '✗ $(PYTHON) was not found: $(GET), then run make again.'; exit 1; }
	@$(PYTHON) -m tools.setup $(KIND) $@ $(if $(BUNDLE),"--bundle=$(BUNDLE)")

.PHONY: help lab demo test test-compose test-all repeat-tests bench bench-engines repeat down clean build run guide compose topics reliability facts guarantees scaling machines room pictures walk record-demos site slides slides-check lint lock lock-python wheel runtime authors
