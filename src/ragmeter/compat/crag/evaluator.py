"""CRAGEvaluator: an agent answers, a judge judges, and the scores are computed."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Unpack

from msgspec import to_builtins

from ragmeter.compat.crag import config, dataset_utils, files
from ragmeter.compat.crag.agents import Agent, RetrievalSettings, extras_of, identity_of, notice_of
from ragmeter.compat.crag.evaluation import JudgedTurns, Judgements, judged, metrics_of
from ragmeter.compat.crag.generation import Generation, Heard
from ragmeter.compat.crag.images import Images
from ragmeter.compat.crag.llm_judge import LLMJudge
from ragmeter.compat.crag.truncation import Tokenizer, cut
from ragmeter.compat.crag.turns import TurnTable, given_turns, load_turns, save_turns
from ragmeter.effects.argument_checks import check_number, check_whole
from ragmeter.effects.limits.caller import Caller
from ragmeter.effects.limits.calls import Limits, run_calls
from ragmeter.effects.limits.patience import GIVE_UP_AFTER
from ragmeter.effects.process.collector import rare_collections
from ragmeter.effects.process.loop import Threads
from ragmeter.effects.replies.journal import Journal
from ragmeter.effects.replies.rounds import Reuse, Round, begin_round
from ragmeter.engine.judging.judge_run import JudgeRun
from ragmeter.engine.judging.setup import columns_of
from ragmeter.engine.row_reader import RowReader
from ragmeter.errors import AllFailedError, RagmeterWarning, UsageError, errors_of
from ragmeter.hints import option
from ragmeter.io.data import file_signature
from ragmeter.io.progress import Advance, Title, both, progress_bar, show_notice
from ragmeter.io.write import RUNS
from ragmeter.judges.asking.cascade import Cascade
from ragmeter.judges.asking.judge import Judge
from ragmeter.targets.replies import failures

#: The journal by default: a crash must not lose replies that were paid for.
DEFAULT_JOURNAL = RUNS / "crag_journal.sqlite"
Rows = dict[str, list[dict[str, Any]]]
ScoresByPart = dict[str, dict[str, float | None]]
TurnData = Sequence[Mapping[str, Any]] | TurnTable
#: Called with (number done, total).
ProgressCallback = Callable[[int, int], None]
_ALLOWED = f"{option('allow_failures', True)} goes on all the same"


@dataclass(frozen=True)
class Report:
    """The results of an evaluation besides the scores: intervals, failures by cause, bounds, tokens and cost."""

    summary: dict[str, Any]
    effort: dict[str, Any]
    judged: JudgedTurns


class CRAGEvaluator:
    """Evaluates an agent on conversations: generation, judgement, scores.

    Args:
        dataset: conversations (a path, a list of dicts, a Hugging Face dataset), or None to judge saved turns.
        agent: has get_batch_size() and batch_generate_response(queries, images, message_histories); one that takes
            rag_context_list and domains gets these too. None as above.
        eval_model_name: the judge's model; without it only an exact match is correct.
        eval_api_key: the judge's key; by default OPENAI_API_KEY.
        num_conversations: the number of conversations to use; by default all.
        num_workers: how many calls to the judge may run at the same time.
        agent_workers: the number of threads that call the agent. With 1, the default, batches follow one another in one
            thread, which an agent with state or a GPU needs.
        base_url: any OpenAI-compatible endpoint.
        judge: a judge with other settings, in place of eval_model_name, eval_api_key and base_url.
        cascade: lets the offline judge decide where it is sure; everywhere, if there is no other judge.
        tokenizer: has encode() and decode(); answers are cut to MAX_RESPONSE_LENGTH_IN_TOKENS of its tokens.
        load_image: makes an image of an image_url, in place of fetching it.
        fetch_images: fetch the image of an image_url, over https from public addresses; False gives the agent the URL.
        agent_name: the name that the journal records the agent's answers under, so that an interrupted generation can
            continue if the agent is the same. Without it answers are not recorded.
        resume: reuse the answers of a finished generation, and ask only what is missing.
        retry_failed: the same for a generation in which turns failed; and ask the judge again about turns without a
            verdict.
        journal: the file that records replies; None records nothing.
        budget: the highest cost of the judge, in dollars.
        max_calls: the highest number of calls.
        give_up_after: seconds without any success after which it stops; what was recorded is not asked again. A `judge`
            has its own.
        progress: called with the number of turns that were just finished.
        show_progress: show a progress bar while the agent answers and while the judge judges.
        ignored: settings of CRAG-MM's own evaluator that have no effect, as a notice says: image_search and the like.
    """

    def __init__(
        self,
        dataset: Any = None,
        agent: Agent | None = None,
        eval_model_name: str | None = None,
        eval_api_key: str | None = None,
        num_conversations: int | None = None,
        num_workers: int = config.DEFAULT_NUM_WORKERS,
        *,
        base_url: str | None = None,
        judge: Judge | None = None,
        cascade: Cascade | None = None,
        tokenizer: Tokenizer | None = None,
        load_image: Callable[[str], Any] | None = None,
        fetch_images: bool = True,
        agent_name: str | None = None,
        journal: str | Path | None = DEFAULT_JOURNAL,
        budget: float | None = None,
        max_calls: int | None = None,
        retries: int = config.MAX_API_RETRIES,
        give_up_after: float = GIVE_UP_AFTER,
        progress: Advance | None = None,
        agent_workers: int = config.DEFAULT_NUM_WORKERS,
        resume: bool = False,
        retry_failed: bool = False,
        show_progress: bool = False,
        **ignored: Unpack[RetrievalSettings],
    ) -> None:
        if notice := notice_of(ignored):
            show_notice(notice)
        for name, value, least in (
            ("num_workers", num_workers, 1), ("agent_workers", agent_workers, 1), ("retries", retries, 0),
            ("num_conversations", num_conversations, 1), ("max_calls", max_calls, 0),
        ):  # fmt: skip
            check_whole(name, value, least, optional=name in ("num_conversations", "max_calls"))
        check_number("budget", budget, optional=True)
        self.dataset = dataset_utils.one_split(dataset)
        self.agent = agent
        self.num_conversations = num_conversations
        self.num_workers, self.agent_workers = num_workers, agent_workers
        self.reuse = Reuse(resume, retry_failed)
        self.llm_judge: Judge | None = judge
        if judge is None and eval_model_name:
            self.llm_judge = LLMJudge(
                eval_api_key, eval_model_name, base_url, retries=retries, give_up_after=give_up_after
            )
        if self.llm_judge is not None:
            self.llm_judge.check_budget(budget)
        self.budget, self.max_calls, self.retries = budget, max_calls, retries
        self.give_up_after = give_up_after
        self.cascade = cascade
        self.tokenizer, self.images = tokenizer, Images(load_image, fetch_images)
        self.agent_name = agent_name
        self.journal = None if journal is None else Path(journal)
        self.progress: Advance = progress or (lambda turns: None)
        self.watch = Judgements()
        self.show_progress = show_progress
        self.feature_vocabularies: dict[str, list[str]] = {}
        self.all_turn_data: list[dict[str, Any]] = []
        self.shortened = 0
        self.report: Report | None = None
        self.effort: dict[str, Any] = {}
        self._batch_size = 0
        self._open_round: int | None = None
        self._inputs: dict[str, Any] = {}

    def initialize_for_generation(self) -> None:
        """Check the dataset and the agent, and forget earlier answers."""
        if self.dataset is None or self.agent is None:
            raise UsageError("a dataset and an agent are needed to generate answers")
        for method in ("get_batch_size", "batch_generate_response"):
            if not callable(getattr(self.agent, method, None)):
                raise UsageError(f"the agent {type(self.agent).__name__} has no {method}()")
        extras_of(self.agent)  # raises for a method that can't be called
        with errors_of("get_batch_size()"):
            self._batch_size = config.batch_size(self.agent.get_batch_size())
        self.feature_vocabularies = dataset_utils.prepare_feature_vocabularies(self.dataset)
        self.all_turn_data = []
        self.shortened = 0

    def initialize_evaluation(self) -> None:
        """Call `initialize_for_generation`: __init__ has checked everything else."""
        self.initialize_for_generation()

    def evaluate_agent(
        self, progress_callback: ProgressCallback | None = None, *, allow_failures: bool = False
    ) -> tuple[Rows, ScoresByPart]:
        """Let the agent answer, judge the answers and score them. Returns rows and scores, each for `all` and `ego`.

        `progress_callback` is called with (conversations done, conversations) while the agent answers, and then with
        (turns done, turns) while they are judged. Where turns failed, a warning says why; where all did, or none got a
        score, it is an error unless `allow_failures` is true.
        """
        self.initialize_evaluation()
        turns = self.generate_agent_responses(progress_callback, finish=False)
        if not allow_failures:
            _check_turns(turns)
        results = self.evaluate_agent_responses(progress_callback=progress_callback)
        if not allow_failures and self.report is not None:
            _check_scored(self.report.judged)
        self.finish_generation()
        return results

    def generate_agent_responses(
        self,
        progress_callback: ProgressCallback | None = None,
        *,
        finish: bool = True,
        heard: Heard = lambda query, reply: None,
    ) -> list[dict[str, Any]]:
        """Let the agent answer every turn. The turns are stored in `all_turn_data`.

        `progress_callback` is called with (conversations done, conversations), `heard` with each query and its answer
        or failure. With `finish=False` the journal offers these answers to the next generation until
        `finish_generation()` is called, once they are saved: a failure in between must not cost hours of work.
        """
        if not self._batch_size:
            self.initialize_for_generation()
        agent = self.agent
        if agent is None:
            raise UsageError("an agent is needed to generate answers")

        def shorten(answer: str) -> str:
            beginning = cut(answer, config.MAX_RESPONSE_LENGTH_IN_TOKENS, self.tokenizer)
            self.shortened += beginning != answer
            return beginning

        def generate(journal: Journal) -> list[dict[str, Any]]:
            current = self._begin_round(journal, agent)

            async def work(caller: Caller) -> list[dict[str, Any]]:
                with closing(Threads(self.agent_workers)) as threads:
                    generation = Generation(
                        agent, caller, threads, shorten, current, self.images, self.feature_vocabularies, self.progress,
                        heard,
                    )  # fmt: skip
                    conversations = dataset_utils.conversations(self.dataset, self.num_conversations)
                    turns = await generation.run(conversations, self._batch_size, self.agent_workers, finished)
                self.effort = asdict(caller.effort)
                return turns

            limits = Limits(self.agent_workers, self.retries, self.max_calls, give_up_after=self.give_up_after)
            try:
                turns = run_calls(work, limits, journal, "" if current is None else current.key())
            finally:  # an agent with state has changed, even if the calls failed
                if current is not None:
                    journal.let_go(current.number, identity_of(agent, self.agent_name, self.images.load).as_json())
            if current is not None:
                notice = current.reused(journal, self.effort["from_journal"], len(turns), "the agent")
                if notice:
                    show_notice(notice)
            return turns

        has_progress = progress_callback is not None or self.show_progress
        total = dataset_utils.count_conversations(self.dataset, self.num_conversations) if has_progress else 0
        bar = _progress("answering", "conversations", total, progress_callback, shows_bar=self.show_progress)
        with bar as finished, Journal(self.journal if self.agent_name else None) as journal:
            self.all_turn_data = generate(journal)
        if not self.all_turn_data:
            raise UsageError("the dataset has no conversations")
        if finish:
            self.finish_generation()
        return self.all_turn_data

    def _begin_round(self, journal: Journal, agent: Agent) -> Round | None:
        """The journal's round that records the agent's answers, if they are recorded."""
        if self.agent_name is None:
            return None
        data = str(self.dataset) if isinstance(self.dataset, str | Path) else type(self.dataset).__name__
        current = begin_round(
            journal, f"{self.agent_name} {data}", identity_of(agent, self.agent_name, self.images.load), self.reuse
        )
        self._open_round = current.number
        return current

    def finish_generation(self) -> None:
        """Close the journal's round: the answers are saved elsewhere, and the next generation asks the agent again."""
        if self._open_round is not None:
            with Journal(self.journal) as journal:
                journal.finish_round(self._open_round)
            self._open_round = None

    def read_turns(self, turn_data: TurnData | str | Path | None = None) -> TurnTable:
        """Turn data, checked and grouped by conversation: rows, a file's rows, or those that were just generated."""
        if isinstance(turn_data, TurnTable):
            return turn_data
        if isinstance(turn_data, str | Path):
            return TurnTable.of(self.load_turn_data(turn_data))
        return TurnTable.of(given_turns(self.all_turn_data if turn_data is None else turn_data))

    @rare_collections()
    def evaluate_agent_responses(
        self, turn_data: TurnData | str | Path | None = None, progress_callback: ProgressCallback | None = None
    ) -> tuple[Rows, ScoresByPart]:
        """Judge and score turns: those given, those of a file, or those that were just generated.

        `progress_callback` is called with (turns done, turns).
        """
        turns = self.read_turns(turn_data)
        n_turns = len(turns)
        if not n_turns:
            raise UsageError("there are no turns to evaluate", hint="generate some, or give turn data")
        self.watch.by_qid.clear()
        with _progress(self.watch.title, "turns", n_turns, progress_callback, shows_bar=self.show_progress) as tell:
            advance = both(self.progress, tell)
            results = judged(turns, self._judge_run(), self.cascade, self._inputs, advance, self.watch)
        judging = results.evaluation.judging
        self.report = Report(results.summary(), {} if judging is None else to_builtins(judging.effort), results)
        parts = {"all": False, "ego": True}
        rows = {part: results.rows(ego=ego) for part, ego in parts.items()}
        return rows, {part: results.scores(ego=ego) for part, ego in parts.items()}

    def _judge_run(self) -> JudgeRun | None:
        """The judging of turns; None without a language model."""
        if self.llm_judge is None:
            return None
        judge = copy(self.llm_judge)
        judge.workers, judge.budget, judge.max_calls = self.num_workers, self.budget, self.max_calls
        judge.cascade = self.cascade
        # The usual journal has the replies of many judges: there is nothing to say of those that are not used
        judge.journal = None if self.journal == DEFAULT_JOURNAL else self.journal
        return JudgeRun(
            columns_of(metrics_of(is_cascade=self.cascade is not None)), judge, self.journal, self.reuse.retry_failed
        )

    def estimate(self, turn_data: TurnData) -> dict[str, Any]:
        """About how many calls, tokens and dollars judging these turns takes. Asks nothing."""
        turns = self.read_turns(turn_data)
        judge_run = self._judge_run()
        if judge_run is None:
            none = dict.fromkeys(("calls", "recorded", "prompt_tokens", "completion_tokens"), 0)
            return {"turns": len(turns), **none, "cost_usd": 0.0, "most_calls": 0, "most_cost_usd": 0.0}
        estimate = judge_run.estimate(RowReader(lambda: [turns.batch()], len(turns)))
        del estimate["rows"]
        return {"turns": len(turns), **estimate}

    def save_results(
        self,
        turn_results: Mapping[str, Any],
        scores: ScoresByPart,
        output_dir: str | Path,
        *,
        guard: bool = True,
        replace: bool = False,
    ) -> None:
        """Write the two files of turns, the dictionary of scores, and in the same folder the files of a run.

        `turn_results` has the rows of `all` and `ego`: lists of dicts, or DataFrames.
        `guard` puts a quote before cells that a spreadsheet would run as a formula. A run to which columns of a judge
        were added is replaced only if `replace` is true.
        """
        folder = Path(output_dir)
        turn_results = {part: files.result_rows(part, rows) for part, rows in turn_results.items()}
        if not replace:
            files.refuse_added(folder)
        if self.report is None:
            files.save_results(folder, turn_results, scores, guard=guard)
        else:
            files.save_run(folder, self.report.judged.evaluation, turn_results, scores, guard=guard)

    def save_turn_data(self, path: str | Path) -> None:
        """Write the generated turns as JSON lines."""
        save_turns(path, self.all_turn_data)

    def load_turn_data(self, path: str | Path) -> list[dict[str, Any]]:
        """Read saved turns, and check them."""
        turns = load_turns(path)
        self._inputs = {"turns": file_signature(Path(path))}
        return turns


@contextmanager
def _progress(
    title: Title, unit: str, total: int, callback: ProgressCallback | None, *, shows_bar: bool
) -> Iterator[Advance]:
    """A function to call with the number of units that were just finished; a bar and the user's function hear of it."""
    done = 0

    def tell(units: int) -> None:
        nonlocal done
        done += units
        if callback is not None:
            callback(done, total)

    with progress_bar(shows_bar, title, unit, total) as draw:
        yield both(draw, tell)


def _check_turns(turns: Sequence[Mapping[str, Any]]) -> None:
    """Warn of turns without an answer; if no turn has one, raise."""
    failed = [f"{turn['outcome']}: {turn['error']}" for turn in turns if turn["agent_response"] is None]
    if not failed:
        return
    problem = failures(dict(Counter(failed).most_common()), len(turns), "turns")
    if len(failed) == len(turns):
        raise AllFailedError(problem, hint=_ALLOWED)
    warnings.warn(problem, RagmeterWarning, stacklevel=3)


def _check_scored(results: JudgedTurns) -> None:
    """Raise if no turn has a score."""
    causes = Counter(results.not_scored())
    if causes.total() == len(results.turns):
        raise AllFailedError(f"no turn has a score, mostly {causes.most_common(1)[0][0]}", hint=_ALLOWED)
