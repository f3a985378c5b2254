"""The site's pages that are no files in docs/: MkDocs calls the functions `on_...` (`make site`).

The home page is README.md. Each metric has a page from its own description, each group of public names one from
docstrings. Files of the project that a page links to, such as examples/notebook.ipynb, become part of the site.
"""

from __future__ import annotations

import inspect
import posixpath
import re
import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ragmeter

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
HOME = "README.md"
#: Pages outside docs/ besides it.
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/README.md", "benchmarks/data/README.md", "examples/README.md")
#: The public names by what they are for; a test says that none is missing.
GROUPS = {
    "scoring": ("Scoring", "evaluate add_metrics ask score_table Evaluation Run open_target"),
    "questions": (
        "Questions asked of runs",
        "compare gate report export explain list_documents repeats list_metrics get_metric prefer watch choose_sample "
        "calibrate Comparison Calibration",
    ),
    "judges": ("Judges", "Judge Cascade FakeProvider ChatReply"),
    "metrics": ("Metrics of your own", "metric column Metric BaseScorer Failed"),
    "compat": (
        "Names of earlier tools",
        "EditDistanceEvaluator ContextRecall ResponseEvaluator EvaluationResult EvaluationResultRow "
        "EvaluatorInterface QAPair RAGResult EvaluationManager "
        "WebInterface CosineScorer CosineSimilarityScorer ExactMatchScorer F1Scorer TokenF1Scorer MeteorScorer "
        "RougeScorer RougeLScorer CRAGEvaluator LLMJudge clean_text prepare_feature_vocabularies "
        "convert_domain_indices_to_names",
    ),
}
_LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_ELSEWHERE = r"=\"?((?:https?:)?//[^\s\">]+)"
_SCRIPTS = re.compile(r"<(?:script|img|iframe|source)\b[^>]*?\ssrc" + _ELSEWHERE)
_STYLES = re.compile(r"<link\b[^>]*?\srel=\"?(?:stylesheet|preconnect|preload|icon)\b[^>]*?\shref" + _ELSEWHERE)
#: The end of each metric's page.
_SEE = """
```
ragmeter metrics {name}
```

[What holds for all metrics](../metrics.md#what-holds-for-all-of-them): failures, references, words, languages.
"""


def on_config(config: MkDocsConfig) -> None:
    """Put the pages that are made here into the navigation."""
    sections: dict[str, Any] = {}
    for section in config.nav or []:
        sections |= section if isinstance(section, dict) else {}
    sections["Metrics"] += ["metrics.md", *({metric: page} for page, (metric, _) in metric_pages().items())]
    sections["How-to"] += unlisted(config.nav or [])
    names = next(entry for entry in sections["Reference"] if "Python names" in entry)
    names["Python names"] += [{title: f"reference/{group}.md"} for group, (title, _) in GROUPS.items()]


def unlisted(nav: Any) -> list[str]:
    """The documents that the navigation does not have yet."""
    documents = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))
    return [document for document in documents if f"'{document}'" not in str(nav)]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages that are made here, and the files of the project that are linked to."""
    from mkdocs.structure.files import File

    pages = {page: text for page, (_, text) in metric_pages().items()}
    pages |= {f"reference/{group}.md": reference_page(group) for group in GROUPS}
    for page, text in pages.items():
        files.append(File.generated(config, page, content=text))
    for source in linked_sources([HOME, *PAGES, *(f"docs/{file.src_uri}" for file in files.documentation_pages())]):
        files.append(File.generated(config, site_path(source), abs_src_path=str(ROOT / source)))


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links as they are in the project, made those of the site. The home page needs no navigation at its side."""
    sources = {site_path(source): source for source in (HOME, *PAGES)}
    uri = page.file.src_uri
    if sources.get(uri) == HOME:
        page.meta["hide"] = ["navigation"]  # it is alone in its section
    return site_links(markdown, sources.get(uri, f"docs/{uri}"))


def on_post_build(config: MkDocsConfig) -> None:
    """Fail if a page would fetch anything from another host."""
    from mkdocs.exceptions import PluginError

    for page in sorted(Path(config.site_dir).rglob("*.html")):
        hosts = fetched_from_elsewhere(page.read_text(encoding="utf-8"))
        if hosts:
            raise PluginError(f"{page.relative_to(config.site_dir)} fetches {', '.join(hosts)}")


def metric_pages() -> dict[str, tuple[str, str]]:
    """A page for each metric: its path, its name, its text."""
    maker = runpy.run_path(str(ROOT / "docs" / "make_metrics.py"))
    pages = {}
    for metric in maker["builtin"]():
        name = maker["heading"](metric)
        text = f"# {name}\n\n{maker['metric_page'](metric)}\n"
        pages[f"metrics/{metric.base}.md"] = name, text + _SEE.format(name=name.replace("@k", "@10"))
    return pages


def reference_page(group: str) -> str:
    """The public names of a group: how each is called, and its docstrings."""
    title, names = GROUPS[group]
    return "\n".join([f"# {title}\n", *(_described(name, getattr(ragmeter, name), "##") for name in names.split())])


def _described(name: str, item: Any, level: str) -> str:
    """A name's signature and docstring; a class with its public methods."""
    if inspect.isclass(item) and item.__name__ != name:
        return f"{level} `{name}`\n\nAnother name of `{item.__name__}`.\n"
    text = f"{level} `{name}`\n\n```python\n{_signature(name, item)}\n```\n\n{_docstring(item)}\n"
    if not inspect.isclass(item):
        return text
    methods = [method for method in vars(item) if not method.startswith("_") and inspect.isfunction(vars(item)[method])]
    return "\n".join([text, *(_described(f"{name}.{method}", vars(item)[method], level + "#") for method in methods)])


def _docstring(item: Any) -> str:
    """A docstring; of an instance, such as a decorated metric, its class's is not meant."""
    text = inspect.getdoc(item) or ""
    if inspect.isclass(item) and item.__init__.__doc__ and inspect.isfunction(item.__init__):
        text += "\n\n" + inspect.cleandoc(item.__init__.__doc__)
    return re.sub(r"(?<=\S)\n(?=    \S)", "\n\n", text)  # an indented block needs an empty line before it


def _signature(name: str, item: Any) -> str:
    """How it is called; a long one with a line for each parameter."""
    try:
        signature = inspect.signature(item)
    except (TypeError, ValueError):
        return name
    line = _unquoted(f"{name}{signature}")
    if len(line) <= 100:
        return line
    parameters = [f"    {parameter},\n" for parameter in signature.parameters.values()]
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "    *,\n")
    returned = signature.return_annotation
    arrow = "" if returned is inspect.Signature.empty else f" -> {returned}"
    return _unquoted(f"{name}(\n{''.join(parameters)}){arrow}")


def _unquoted(signature: str) -> str:
    """Annotations as they are written, and paths in the same way on all systems."""
    return (
        re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature).replace("PosixPath(", "Path(").replace("WindowsPath(", "Path(")
    )


def linked_sources(documents: Iterable[str]) -> list[str]:
    """The files outside docs/ that the documents link to, and those that they link to; the first ones too."""
    waiting, seen = list(documents), set()
    while waiting:
        document = waiting.pop()
        if document in seen or not (ROOT / document).is_file():
            continue
        seen.add(document)
        if document.endswith(".md"):
            waiting += [_target(document, link) for _, link, _ in _LINK.findall(_prose(document)) if "://" not in link]
    return sorted(source for source in seen if not source.startswith("docs/"))


def _prose(document: str) -> str:
    return _CODE.sub("", (ROOT / document).read_text(encoding="utf-8"))


def site_links(markdown: str, source: str) -> str:
    """The text of a file of the project, with links to where the site has their targets."""
    folder = posixpath.dirname(site_path(source))

    def moved(link: re.Match[str]) -> str:
        if "://" in link[2]:
            return link[0]
        target = site_path(_target(source, link[2]))
        return link[1] + posixpath.relpath(target, folder or ".") + link[3]

    parts = _CODE.split(markdown)
    return "".join(part if number % 2 else _LINK.sub(moved, part) for number, part in enumerate(parts))


def _target(source: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), link))


def site_path(source: str) -> str:
    """Where the site has a file of the project."""
    return "index.md" if source == HOME else source.removeprefix("docs/")


def fetched_from_elsewhere(page: str) -> list[str]:
    """The addresses on other hosts from which a browser would fetch scripts, styles or pictures."""
    return sorted({*_SCRIPTS.findall(page), *_STYLES.findall(page)})
