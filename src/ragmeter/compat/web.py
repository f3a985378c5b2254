"""The classes of the web tool: scorers of single pairs, a manager of scorers, and a web page to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ragmeter.effects.limits.caller import Failure
from ragmeter.effects.limits.calls import Limits
from ragmeter.errors import UsageError
from ragmeter.io.source import open_source
from ragmeter.io.write import replacing, table_format, write_rows
from ragmeter.registry import BaseScorer, get
from ragmeter.table import NewRow, Row
from ragmeter.targets.port import Question
from ragmeter.targets.replies import ask
from ragmeter.targets.web.open_page import OpenPage
from ragmeter.targets.web.page import Page
from ragmeter.targets.web.session import PageSession
from ragmeter.targets.web.target import Login, WebTarget


class MetricScorer(BaseScorer):
    """A metric as a scorer of single pairs.

    Args:
        language: the language whose stemmer is used, where the metric stems.
    """

    metric = ""

    def __init__(self, language: str = "es") -> None:
        metric = get(self.metric)
        self._metric = metric.with_settings(language=language) if "language" in metric.defaults else metric

    def calculate_score(self, reference: str, candidate: str) -> float:
        """The metric's score of this pair."""
        return float(self._metric([reference], [candidate])[0])

    def get_score_name(self) -> str:
        """The name of the score's column."""
        return self.metric


class CosineSimilarityScorer(MetricScorer):
    """TF-IDF cosine of the two texts."""

    metric = "cosine_similarity"


class RougeLScorer(MetricScorer):
    """ROUGE-L's F-measure."""

    metric = "rouge_l_score"


class ExactMatchScorer(MetricScorer):
    """Whether the texts are the same after normalisation."""

    metric = "exact_match"


class TokenF1Scorer(MetricScorer):
    """F1 of the words in common."""

    metric = "token_f1"


class MeteorScorer(MetricScorer):
    """METEOR with stems."""

    metric = "meteor_score"


#: The scorers' names in the tool that they come from.
CosineScorer, RougeScorer, F1Scorer = CosineSimilarityScorer, RougeLScorer, TokenF1Scorer


def default_scorers(language: str = "es") -> list[BaseScorer]:
    """The five scorers, in the order of their columns."""
    classes = (CosineSimilarityScorer, RougeLScorer, ExactMatchScorer, TokenF1Scorer, MeteorScorer)
    return [scorer_class(language) for scorer_class in classes]


class EvaluationManager:
    """Scores responses with several scorers, and averages the scores."""

    def __init__(self, scorers: Sequence[BaseScorer] | None = None) -> None:
        self.scorers = list(default_scorers() if scorers is None else scorers)
        names = [scorer.get_score_name() for scorer in self.scorers]
        if not names or len(set(names)) < len(names):
            raise UsageError("at least one scorer is needed, and their score names must differ")

    def evaluate_response(self, reference: str, candidate: str | None) -> dict[str, float | None]:
        """All scores of a response, and their average; None without a response."""
        if candidate is None:
            return dict.fromkeys([*(scorer.get_score_name() for scorer in self.scorers), "average_score"])
        scores = {scorer.get_score_name(): scorer.calculate_score(reference, candidate) for scorer in self.scorers}
        return {**scores, "average_score": sum(scores.values()) / len(scores)}

    def evaluate(self, rows: Sequence[Row]) -> list[NewRow]:
        """Rows with `ground_truth` and `actual_response`, with their scores added."""
        return [
            {**row, **self.evaluate_response(row.get("ground_truth") or "", row.get("actual_response"))} for row in rows
        ]

    def update_csv(
        self, input_file: str | Path, output_file: str | Path, responses: Mapping[str, str | None]
    ) -> list[NewRow]:
        """Score responses, a mapping by query, to the queries of a CSV file, and write them to another file."""
        rows = [{**row, "actual_response": responses.get(str(row["query"]))} for row in read_queries(input_file)]
        scored = self.evaluate(rows)
        write_scored(Path(output_file), scored)
        return scored

    def evaluate_file(self, input_path: str | Path, output_path: str | Path, web: WebInterface) -> list[NewRow]:
        """Ask every query of a CSV file on a page, score the responses, and write them to another file."""
        rows = read_queries(input_path)
        responses = web.ask_all([str(row["query"]) for row in rows])
        scored = self.evaluate(
            [{**row, "actual_response": answer} for row, answer in zip(rows, responses, strict=True)]
        )
        write_scored(Path(output_path), scored)
        return scored


class WebInterface:
    """A RAG's web page, asked one query at a time or many side by side.

    `start()`, `send_query(query)` and `close()` keep one page open; `query` and `ask_all` open a new page for each
    query. Without `input_selector` the page's input box is detected, and so is the button beside it. `options` are
    those of the command `ragmeter web`: `answer_selector`, `timeout`, `same_page` ...
    """

    def __init__(
        self,
        url: str,
        input_selector: str | None = None,
        submit_selector: str | None = None,
        *,
        workers: int = 1,
        storage_state: str | None = None,
        browser_path: str | None = None,
        headed: bool = False,
        **options: Any,
    ) -> None:
        self._page = Page(url, input_selector, submit_selector, **options)
        self._workers = workers
        self._login = Login(storage_state)
        self._browser_path, self._headed = browser_path, headed
        self._session: PageSession | None = None
        self.failures: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def page(self) -> OpenPage | None:
        """The open page, as Playwright's synchronous scripts use it: `web.page.title()`; None while none is open."""
        return None if self._session is None else self._session.page

    def start(self) -> None:
        """Open the browser and the page, which stays open for `send_query` until `close()`."""
        if self._session is None:
            session = PageSession(self._target())
            session.start()
            self._session = session

    def send_query(
        self, query: str, input_selector: str | None = None, submit_selector: str | None = None
    ) -> str | None:
        """The open page's response to a query; None if there is none, with the reason in `failures`.

        The page is opened if it is not open yet. Selectors given here apply to later queries too.
        """
        self.start()
        assert self._session is not None  # noqa: S101 - it was just started
        reply = self._session.ask(query, input_selector, submit_selector)
        self.failures.pop(query, None)
        if isinstance(reply, Failure):
            self.failures[query] = f"{reply.outcome}: {reply.cause}"
            return None
        return reply.answer

    def close(self) -> None:
        """Close the page and the browser that `start()` opened."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _target(self) -> WebTarget:
        return WebTarget(self._page, self._login, browser_path=self._browser_path, headed=self._headed)

    def query(self, question: str) -> str | None:
        """The page's response to a query; None if there is none, with the reason in `failures`."""
        return self.ask_all([question])[0]

    def ask_all(self, questions: Sequence[str]) -> list[str | None]:
        """The responses to several queries, in their order."""
        numbered = [Question(str(number), question) for number, question in enumerate(questions, 1)]
        replies = ask(self._target(), numbered, Limits(self._workers), None, lambda count: None).in_order
        self.failures = {
            question.text: f"{reply.outcome}: {reply.cause}"
            for question, reply in zip(numbered, replies, strict=True)
            if isinstance(reply, Failure)
        }
        return [None if isinstance(reply, Failure) else reply.answer for reply in replies]


def read_queries(path: str | Path) -> list[NewRow]:
    """The rows of a CSV file with `query` and `ground_truth`."""
    rows = [row for _, row in open_source(path).records()]
    for needed in ("query", "ground_truth"):
        if needed not in rows[0]:
            raise UsageError(f"{path} has no column {needed!r}", hint=f"it has {', '.join(rows[0])}")
    return rows


def write_scored(path: Path, rows: Sequence[Row], *, guard: bool = True) -> None:
    """Write rows as CSV, or for Excel if the name says so, with the columns of the first row."""
    titles = list(rows[0]) if rows else []
    file_format = table_format(path)
    with replacing(path) as (temporary,):
        write_rows(temporary, titles, ([row.get(title) for title in titles] for row in rows), file_format, guard=guard)
