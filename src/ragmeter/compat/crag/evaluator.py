"""The class that orchestrates it: an agent answers, a judge judges, and the scores are worked out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragmeter.compat.crag import files
from ragmeter.compat.crag.cascade import share
from ragmeter.compat.crag.config import (
    DEFAULT_NUM_WORKERS,
    MAX_API_RETRIES,
    MAX_RESPONSE_LENGTH_IN_TOKENS,
    batch_size,
)
from ragmeter.compat.crag.dataset_utils import conversations, one_split, prepare_feature_vocabularies
from ragmeter.compat.crag.evaluation import TURN_COLUMNS, Judged, group, judge_all
from ragmeter.compat.crag.generation import Agent, Generation
from ragmeter.compat.crag.progress import ProgressCallback, count_conversations, tracking
from ragmeter.compat.crag.truncation import Tokenizer, cut
from ragmeter.effects.caller import Caller
from ragmeter.effects.calls import Limits, run_calls
from ragmeter.effects.journal import Journal
from ragmeter.effects.rounds import Identity, Reuse, Round, begin_round
from ragmeter.errors import UsageError, errors_of
from ragmeter.hints import by_caller, option
from ragmeter.io.data import file_signature
from ragmeter.io.write import RUNS, dumps
from ragmeter.judges.cascade import Cascade
from ragmeter.judges.judge import Judge, LLMJudge
from ragmeter.judges.probes import Check, check_judge
from ragmeter.judges.prompt import OTHER_FIELDS
from ragmeter.judges.verdict import verdict
from ragmeter.metrics.conversation import scores
from ragmeter.targets.identity import fingerprint

#: Where verdicts are kept unless somebody says otherwise: a crash must not lose what was paid for.
DEFAULT_JOURNAL = RUNS / "crag_journal.sqlite"
Rows = dict[str, list[dict[str, Any]]]
ScoresByPart = dict[str, dict[str, float | None]]
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Report:
    """What an evaluation says besides the scores: intervals, failures by cause, bounds, tokens and cost."""

    summary: dict[str, Any]
    effort: dict[str, Any]
    judged: Judged


class CRAGEvaluator:
    """Evaluates an agent on conversations: generation, judgement, scores.

    Args:
        dataset: conversations (a path, a list of dicts, a Hugging Face dataset), or None to judge saved turns.
        agent: has get_batch_size() and batch_generate_response(queries, images, message_histories); None as above.
        eval_model_name: the judge's model; without it an answer is right only where it matches exactly.
        eval_api_key: the judge's key; without it OPENAI_API_KEY.
        num_conversations: how many conversations to take; all of them unless given.
        num_workers: how many judge calls may be under way at once.
        agent_workers: from how many threads the agent is called. With 1 it is called from one thread, one batch after
            another, as an agent expects that keeps a state or a GPU.
        base_url: any OpenAI-compatible endpoint.
        judge: a judge with settings of your own, in place of the three above.
        cascade: has the offline judge decide where it is sure; everywhere, if there is no other judge.
        tokenizer: cuts answers to MAX_RESPONSE_LENGTH_IN_TOKENS; has encode() and decode().
        load_image: makes an image of an image_url; without it the agent is given the URL.
        agent_name: what the agent's answers are kept under in the journal, so that an interrupted generation goes on
            where it was if the agent is still the same. Without it they are not kept.
        resume: use the answers of a generation that was finished again, and ask only what is missing.
        retry_failed: the same for a generation in which some turns failed; and ask the judge again about turns that got
            no verdict.
        journal: the file that keeps what was answered; None keeps nothing.
        budget: the most that the judge may cost, in dollars.
        max_calls: the most calls to make.
        progress: called with the number of turns that are done.
        show_progress: draw a bar on the terminal while the agent answers and while the judge judges.
    """

    def __init__(
        self,
        dataset: Any = None,
        agent: Agent | None = None,
        eval_model_name: str | None = None,
        eval_api_key: str | None = None,
        num_conversations: int | None = None,
        num_workers: int = DEFAULT_NUM_WORKERS,
        *,
        base_url: str | None = None,
        judge: Judge | None = None,
        cascade: Cascade | None = None,
        tokenizer: Tokenizer | None = None,
        load_image: Callable[[str], Any] | None = None,
        agent_name: str | None = None,
        journal: str | Path | None = DEFAULT_JOURNAL,
        budget: float | None = None,
        max_calls: int | None = None,
        retries: int = MAX_API_RETRIES,
        progress: Advance | None = None,
        agent_workers: int = DEFAULT_NUM_WORKERS,
        resume: bool = False,
        retry_failed: bool = False,
        show_progress: bool = False,
    ) -> None:
        for name, workers in (("num_workers", num_workers), ("agent_workers", agent_workers)):
            if workers < 1:
                raise UsageError(f"{name} must be at least 1, and is {workers}")
        if num_conversations is not None and num_conversations < 1:
            raise UsageError(f"num_conversations must be at least 1, and is {num_conversations}")
        self.dataset = one_split(dataset)
        self.agent = agent
        self.num_conversations = num_conversations
        self.num_workers, self.agent_workers = num_workers, agent_workers
        self.reuse = Reuse(resume, retry_failed)
        self.llm_judge: Judge | None = judge
        if judge is None and eval_model_name:
            self.llm_judge = LLMJudge(eval_api_key, eval_model_name, base_url, retries=retries)
        if budget is not None and self.llm_judge is not None and self.llm_judge.price is None:
            raise UsageError(
                f"the price of {self.llm_judge.endpoint.model!r} is not known, so a budget can't be kept",
                hint=f"give it with {by_caller('--prices', 'judge=LLMJudge(prices=...)')}, "
                f"or limit the calls with {option('max_calls')}",
            )
        self.budget, self.max_calls, self.retries = budget, max_calls, retries
        self.cascade = cascade
        self.tokenizer, self.load_image = tokenizer, load_image
        self.agent_name = agent_name
        self.journal = None if journal is None else Path(journal)
        self.progress: Advance = progress or (lambda turns: None)
        self.show_progress = show_progress
        self.feature_vocabularies: dict[str, list[str]] = {}
        self.all_turn_data: list[dict[str, Any]] = []
        self.shortened = 0
        self.report: Report | None = None
        self.effort: dict[str, Any] = {}
        self._batch_size = 0
        self._open_round: int | None = None
        self._check: Check | None = None
        self._inputs: dict[str, Any] = {}

    def initialize_for_generation(self) -> None:
        """See that there is something to ask and somebody to answer, and begin with nothing answered."""
        if self.dataset is None or self.agent is None:
            raise UsageError("a dataset and an agent are needed to generate answers")
        for method in ("get_batch_size", "batch_generate_response"):
            if not callable(getattr(self.agent, method, None)):
                raise UsageError(f"the agent {type(self.agent).__name__} has no {method}()")
        with errors_of("get_batch_size()"):
            self._batch_size = batch_size(self.agent.get_batch_size())
        self.feature_vocabularies = prepare_feature_vocabularies(self.dataset)
        self.all_turn_data = []
        self.shortened = 0

    def initialize_evaluation(self) -> None:
        """The same: everything that an evaluation needs beyond it was seen to when the evaluator was made."""
        self.initialize_for_generation()

    def evaluate_agent(self, progress_callback: ProgressCallback | None = None) -> tuple[Rows, ScoresByPart]:
        """Have the agent answer, judge the answers, and score them: rows and scores, each for `all` and `ego`.

        `progress_callback` is called with (conversations done, conversations) while the agent answers, and then with
        (turns done, turns) while they are judged.
        """
        self.initialize_evaluation()
        self.generate_agent_responses(progress_callback, finish=False)
        results = self.evaluate_agent_responses(progress_callback=progress_callback)
        self.finish_generation()
        return results

    def generate_agent_responses(
        self, progress_callback: ProgressCallback | None = None, *, finish: bool = True
    ) -> list[dict[str, Any]]:
        """Have the agent answer every turn. The turns are kept in `all_turn_data`.

        `progress_callback` is called with (conversations done, conversations). With `finish=False` the next call goes
        on with these answers until `finish_generation()` says that they are where they belong: what the agent took
        hours for must not hang on what comes after it.
        """
        if not self._batch_size:
            self.initialize_for_generation()
        agent = self.agent
        if agent is None:
            raise UsageError("an agent is needed to generate answers")

        def shorten(answer: str) -> str:
            kept = cut(answer, MAX_RESPONSE_LENGTH_IN_TOKENS, self.tokenizer)
            self.shortened += kept != answer
            return kept

        def generate(journal: Journal) -> list[dict[str, Any]]:
            current = self._begin_round(journal, agent)

            async def work(caller: Caller) -> list[dict[str, Any]]:
                generation = Generation(agent, caller, shorten, current)
                answered = await generation.run(
                    conversations(self.dataset, self.num_conversations, self.load_image),
                    self._batch_size,
                    self.agent_workers,
                    self.progress,
                    finished,
                )
                self.effort = asdict(caller.effort)
                return [turn for progress in answered for turn in progress.turns()]

            limits = Limits(self.agent_workers, self.retries, self.max_calls)
            try:
                turns = run_calls(work, limits, journal, "" if current is None else current.key())
            finally:  # an agent that remembers has changed, however it ended
                if current is not None:
                    journal.let_go(current.number, self._identity(agent).as_json())
            if current is not None:
                notice = current.reused(journal, self.effort["from_journal"], len(turns), "the agent")
                if notice:
                    print(notice, file=sys.stderr)
            return turns

        watched = progress_callback is not None or self.show_progress
        total = count_conversations(self.dataset, self.num_conversations) if watched else 0
        kept_in = self.journal if self.agent_name else None
        shown = tracking("answering", "conversations", total, progress_callback, shown=self.show_progress)
        with shown as finished, Journal(kept_in) as journal:
            self.all_turn_data = generate(journal)
        if not self.all_turn_data:
            raise UsageError("the dataset has no conversations")
        if finish:
            self.finish_generation()
        return self.all_turn_data

    def _begin_round(self, journal: Journal, agent: Agent) -> Round | None:
        """The round that the agent's answers are kept in, if they are kept."""
        if self.agent_name is None:
            return None
        data = str(self.dataset) if isinstance(self.dataset, str | Path) else type(self.dataset).__name__
        current = begin_round(journal, f"{self.agent_name} {data}", self._identity(agent), self.reuse)
        self._open_round = current.number
        return current

    def _identity(self, agent: Agent) -> Identity:
        seen = fingerprint(agent)
        signature = {"agent": self.agent_name, "source": seen.source, "state": seen.state}
        return Identity(dumps(signature), signature, seen.certain)

    def finish_generation(self) -> None:
        """The answers are complete and kept elsewhere: the agent is asked anew next time."""
        if self._open_round is not None:
            with Journal(self.journal) as journal:
                journal.finish_round(self._open_round)
            self._open_round = None

    def evaluate_agent_responses(
        self,
        turn_data: Sequence[Mapping[str, Any]] | str | Path | None = None,
        progress_callback: ProgressCallback | None = None,
    ) -> tuple[Rows, ScoresByPart]:
        """Judge and score turns: those given, those of a file, or those that were just generated.

        `progress_callback` is called with (turns done, turns).
        """
        if isinstance(turn_data, str | Path):
            turn_data = self.load_turn_data(turn_data)
        turns = self.all_turn_data if turn_data is None else turn_data
        if not isinstance(turns, Sequence):
            raise UsageError(
                f"turn data is a list of dicts, and this is {type(turns).__name__}", hint="df.to_dict('records')"
            )
        if not turns:
            raise UsageError("there are no turns to evaluate", hint="generate some, or give turn data")
        judged = Judged(group([files.checked(dict(row)) for row in turns]))
        usage: dict[str, Any] = {}
        effort: dict[str, Any] = {}
        shared = None
        if self.cascade is not None:
            judged.decide(judged=True)
            shared = share(self.cascade, judged, self.llm_judge, self.budget)
        elif self.llm_judge is None:
            judged.decide(judged=False)
        with tracking("judging", "turns", len(turns), progress_callback, shown=self.show_progress) as advance:
            if self.llm_judge is None:
                advance(len(turns))
            else:
                usage, effort = self._judge(judged, self.llm_judge, advance)
        if shared is not None:
            shared.finish()
        judged.count()
        summary = files.summarise_turns(judged, usage)
        if shared is not None:
            summary["cascade"] = shared.summary(self.llm_judge)
        if self._check is not None:
            summary["check"] = self._check.as_dict()
        self.report = Report(summary, effort, judged)
        rows = {"all": judged.rows(), "ego": judged.rows(ego=True)}
        return rows, {"all": scores(judged.turns()), "ego": scores(judged.turns(ego=True))}

    def _judge(self, judged: Judged, judge: Judge, advance: Advance) -> tuple[dict[str, Any], dict[str, Any]]:
        judge.client().check()
        judge.check_columns([*OTHER_FIELDS.values(), *TURN_COLUMNS])

        def both(turns: int) -> None:
            self.progress(turns)
            advance(turns)

        async def work(caller: Caller) -> tuple[dict[str, Any], dict[str, Any]]:
            asks = judge.on(verdict)
            async with judge.client() as client:
                if judge.check:
                    self._check = await check_judge(asks, caller, client)
                await judge_all(judged, asks, caller, client, both, retry=self.reuse.retry_failed)
            effort = {
                **asdict(caller.effort),
                "latency_ms": caller.usage.latency(),
                "parameters_the_server_refused": sorted(client.dropped),
            }
            return caller.usage.as_dict(), effort

        limits = Limits(self.num_workers, judge.retries, self.max_calls, self.budget)
        with Journal(self.journal) as journal:
            return run_calls(work, limits, journal, judged.scope(judge.spec()))

    def estimate(self, turn_data: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What judging these turns would take: about how many calls, tokens and dollars. Asks nothing."""
        judge = self.llm_judge
        if judge is None:
            return {"calls": 0, "turns": len(turn_data), "recorded": 0, "prompt_tokens": 0, "completion_tokens": 0,
                    "cost_usd": 0.0}  # fmt: skip
        judged = Judged(group([files.checked(dict(row)) for row in turn_data]))
        judged.decide(judged=True)
        if self.cascade is not None:
            share(self.cascade, judged, judge, self.budget)
        waiting = [each for conversation in judged.conversations for each in conversation if each.turn is None]
        there = self.journal is not None and self.journal.exists()
        with Journal(self.journal if there else None) as journal:
            asks = judge.on(verdict)
            shown = [turn.texts(asks.asked) for turn in waiting]
            distinct = {tuple(texts.values()): texts for texts in shown}
            recorded = {key: asks.recorded(journal, texts) for key, texts in distinct.items()}
        calls = prompt = completion = 0
        for key, known in recorded.items():
            more = judge.repeats - known
            asked, answered = asks.estimate(distinct[key])
            calls, prompt, completion = calls + more, prompt + more * asked, completion + more * answered
        return {
            "turns": len(turn_data),
            "calls": calls,
            "recorded": sum(recorded.values()),
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "cost_usd": None if judge.price is None else judge.price.of(prompt, completion),
        }

    def save_results(
        self,
        turn_results: Mapping[str, Sequence[Mapping[str, Any]]],
        scores: ScoresByPart,
        output_dir: str | Path,
        *,
        guard: bool = True,
    ) -> None:
        """Write the two files of turns, the dictionary of scores, and beside them the files of a run folder.

        `guard` puts a quote before cells that a spreadsheet would run as a formula.
        """
        folder = Path(output_dir)
        files.save_results(folder, turn_results, scores, guard=guard)
        if self.report is not None:
            judge = self.llm_judge
            how = None if judge is None else {**judge.signature(), "repeats": judge.repeats, "tries": judge.tries}
            shared = None if self.cascade is None else self.cascade.signature()
            manifest = files.manifest_of(folder.name, self._inputs, how, self.report.effort, shared)
            files.save_run(folder, self.report.judged, self.report.summary, manifest)

    def save_turn_data(self, path: str | Path) -> None:
        """Write the generated turns as JSON lines."""
        files.save_turns(path, self.all_turn_data)

    def load_turn_data(self, path: str | Path) -> list[dict[str, Any]]:
        """Read turns that were saved."""
        turns = files.load_turns(path)
        self._inputs = {"turns": file_signature(Path(path))}
        return turns
