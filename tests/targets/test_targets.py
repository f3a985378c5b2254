"""Targets: what they are asked, what they answer, and how they fail."""

from __future__ import annotations

import asyncio
import functools
import json
import math
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.limits.caller import Failure, GiveUp
from ragmeter.effects.limits.calls import Limits
from ragmeter.effects.network.endpoint import Endpoint
from ragmeter.errors import UsageError
from ragmeter.models.prices import Price
from ragmeter.targets.http import HttpTarget, Paths
from ragmeter.targets.json_path import JsonPath
from ragmeter.targets.model import ModelTarget
from ragmeter.targets.opening import open_target
from ragmeter.targets.port import Answer, Question, Target
from ragmeter.targets.python import PythonTarget
from ragmeter.targets.replies import Answers, Replies, ask
from ragmeter.targets.results import read_answer
from tests.command import PATIENCE
from tests.judge_server import Action, Behaviour, JudgeServer, completion
from tests.provider_servers import AnthropicServer, FormatServer, GeminiServer, OpenAIServer

QUICK = Limits(workers=4, retries=0)
ONE = [Question("1", "why?")]


def asked(
    target: Target, questions: list[Question] = ONE, limits: Limits = QUICK, journal: Path | None = None
) -> Replies:
    with Answers(journal, "run", target, questions) as answers:
        return ask(target, questions, limits, answers, lambda count: None)


def reply_of(target: Target, **limits: Any) -> Answer | Failure:
    return asked(target, limits=Limits(**{"retries": 0, **limits})).in_order[0]


def answer_of(reply: Answer | Failure) -> Answer:
    assert isinstance(reply, Answer), reply
    return reply


def python(function: Any, timeout: float = PATIENCE) -> PythonTarget:
    return PythonTarget.of(function, timeout)


# -- Python ------------------------------------------------------------------------------------------------------------


def test_functions_coroutines_and_objects() -> None:
    class Engine:
        def query(self, question: str) -> str:
            return f"object {question}"

    async def coroutine(question: str) -> str:
        await asyncio.sleep(0)
        return f"coroutine {question}"

    assert answer_of(reply_of(python(lambda question: f"function {question}"))).answer == "function why?"
    assert answer_of(reply_of(python(coroutine))).answer == "coroutine why?"
    assert answer_of(reply_of(python(Engine()))).answer == "object why?"
    assert answer_of(reply_of(python(lambda question: coroutine(question)))).answer == "coroutine why?"


def test_what_a_dict_may_hold() -> None:
    answer = answer_of(
        reply_of(
            python(
                lambda question: {
                    "answer": "a",
                    "events": [{"id": 7, "text": "seven"}, {"title": "T"}, "plain", {"odd": 1}],
                    "latency_ms": 12.5,
                }
            )
        )
    )
    assert answer.retrieved == ["7", "T", "plain", '{"odd": 1}']
    assert answer.contexts == ["seven"]
    assert answer.latency_ms == 12.5
    answer = answer_of(reply_of(python(lambda question: {"answer": "a", "retrieved": [], "contexts": [None, "c"]})))
    assert (answer.retrieved, answer.contexts) == ([], ["", "c"])
    assert answer_of(reply_of(python(lambda question: "text"))).retrieved is None


def test_names_of_documents_in_a_dict() -> None:
    def returns(**keys: Any) -> Answer:
        return answer_of(reply_of(python(lambda question: {"answer": "a", **keys})))

    assert returns(sources=["d1", {"id": "d2"}]).retrieved == ["d1", "d2"]
    assert returns(chunks=[{"id": "c1", "text": "one"}]).contexts == ["one"]
    answer = returns(chunks=["one", "two"], docs=["d1"])
    assert (answer.retrieved, answer.contexts) == (["d1"], ["one", "two"])


def test_other_keys_of_a_dict_are_columns() -> None:
    returned = {
        "answer": "a", "question": "why?", "tokens": 12, "cost_usd": 0.5, "tool_calls": [{"name": "search"}],
        "model": "m", "none": None, "object": object(), 7: "seven", "endless": [], "docs": [],
    }  # fmt: skip
    returned["endless"] = [returned]
    answer = answer_of(reply_of(python(lambda question: returned)))
    assert answer.columns == {"tokens": 12, "cost_usd": 0.5, "tool_calls": '[{"name": "search"}]', "model": "m"}
    assert answer_of(reply_of(python(lambda question: {"docs": ["d1"], "model": "m"}))).only_retrieved


@pytest.mark.parametrize("returned", [("the answer", ["doc1"]), ("the answer", ["doc1"], 3), ("a", ("b",))])
def test_an_answer_with_its_passages_in_a_tuple_is_no_retriever(returned: Any) -> None:
    with pytest.raises(GiveUp) as raised:
        read_answer(returned, 1.0)
    assert raised.value.cause == "the target returned a tuple, and should return a dict with answer and contexts"
    assert read_answer([("a", 0.5), ("b", 0.2)], 1.0).retrieved == ["a", "b"]
    assert read_answer(("a", "b"), 1.0).retrieved == ["a", "b"]


def test_latency_is_measured_where_it_is_not_given() -> None:
    def slow(question: str) -> str:
        time.sleep(0.05)
        return "x"

    answer = answer_of(reply_of(python(slow)))
    assert answer.latency_ms >= 50


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "returned NoneType"),
        (7, "returned int"),
        ({}, "no `answer`; it is empty"),
        ({"text": "x"}, "no `answer`; the keys are text"),
        ({"respuesta": "x", "docs": ["d1"]}, "no `answer`; the keys are respuesta, docs"),
        ({"answer": None}, "NoneType as its `answer`"),
        ({"answer": "x", "latency_ms": "quick"}, "latency_ms is 'quick'"),
    ],
)
def test_what_is_no_answer(result: Any, message: str) -> None:
    failure = reply_of(python(lambda question: result))
    assert isinstance(failure, Failure)
    assert failure.outcome == "target_error"
    assert message in failure.cause


def test_a_function_that_raises_hangs_or_leaves() -> None:
    def raises(question: str) -> str:
        raise ValueError("no\nidea")

    def leaves(question: str) -> str:
        raise SystemExit(1)

    def stops(question: str) -> str:
        raise StopIteration

    for function, message in ((raises, "ValueError: no idea (test_targets.py, line "), (leaves, "SystemExit: 1")):
        failure = reply_of(python(function))
        assert isinstance(failure, Failure)
        assert failure.cause.startswith(message)
    assert isinstance(reply_of(python(stops)), Failure)
    assert reply_of(python(lambda question: time.sleep(3600), timeout=0.1)) == Failure(
        "timeout", "no answer within 0.1 s"
    )


def test_it_is_tried_again() -> None:
    calls = []

    def shaky(question: str) -> str:
        calls.append(question)
        if len(calls) < 3:
            raise ConnectionError("later")
        return "fine"

    assert answer_of(reply_of(python(shaky), retries=3)).answer == "fine"


def test_a_path_that_leads_to_no_target() -> None:
    for path, message in (
        ("nothing.at:all", "no module"),
        ("json:nothing", "nothing"),
        ("sys:maxsize", "can't be asked"),
    ):
        with pytest.raises(UsageError, match=message):
            PythonTarget.load(path)


def test_sessions_are_asked_in_turn_with_their_history() -> None:
    seen: list[tuple[str, str | None, int]] = []

    def remembers(question: str, session_id: str | None, history: list[dict[str, str]]) -> str:
        seen.append((question, session_id, len(history)))
        return f"re {question}"

    questions = [
        Question("1", "b", "s", turn=1),
        Question("2", "a", "s", turn=0),
        Question("3", "c", "t"),
        Question("4", "d", "t"),
        Question("5", "e"),
    ]
    replies = asked(python(remembers), questions).in_order
    assert [answer_of(reply).answer for reply in replies] == ["re b", "re a", "re c", "re d", "re e"]
    assert sorted(seen) == [("a", "s", 0), ("b", "s", 2), ("c", "t", 0), ("d", "t", 2), ("e", None, 0)]


def test_a_session_ends_where_a_turn_fails() -> None:
    def picky(question: str) -> str | None:
        return None if question == "b" else question

    replies = asked(python(picky), [Question(str(i), text, "s", turn=i) for i, text in enumerate("abc")]).in_order
    assert isinstance(replies[0], Answer)
    assert [reply.cause for reply in replies[1:] if isinstance(reply, Failure)][
        1
    ] == "an earlier turn of the session has no answer"


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    calls: list[str] = []
    well = threading.Event()  # not part of what the function is, as a dict or a number would be

    def sometimes(question: str) -> str | None:
        calls.append(question)
        return None if not well.is_set() and question == "q3" else f"a {question}"

    questions = [Question(str(i), f"q{i}") for i in range(6)]
    target = python(sometimes)
    first = asked(target, questions, journal=journal)
    assert sum(isinstance(reply, Failure) for reply in first.in_order) == 1
    well.set()
    count = len(calls)
    second = asked(target, questions, journal=journal)
    assert calls[count:] == ["q3"]
    assert [answer_of(reply).answer for reply in second.in_order] == [f"a q{i}" for i in range(6)]
    assert second.effort.from_journal == 5


def test_the_same_question_twice_is_asked_twice() -> None:
    calls: list[str] = []

    def counts(question: str) -> str:
        calls.append(question)
        return "x"

    asked(python(counts), [Question("1", "q"), Question("2", "q")])
    assert calls == ["q", "q"]


def test_so_many_calls() -> None:
    result = asked(
        python(lambda question: "x"), [Question(str(i), "q") for i in range(9)], Limits(retries=0, max_calls=4)
    )
    assert [reply.outcome for reply in result.in_order if isinstance(reply, Failure)] == ["skipped_budget"] * 5
    assert result.causes() == {"skipped_budget: the limit of 4 calls was reached": 5}


# -- HTTP --------------------------------------------------------------------------------------------------------------


def http(server: JudgeServer, **keywords: Any) -> HttpTarget:
    paths = Paths(**{name: JsonPath.parse(path) for name, path in keywords.pop("paths", {}).items()})
    return HttpTarget(f"http://127.0.0.1:{server.port}/query", paths=paths, **{"timeout": PATIENCE, **keywords})


def always(action: Action) -> Behaviour:
    return lambda request, number: action


def replies(body: Any, **keywords: Any) -> JudgeServer:
    return JudgeServer(lambda request, number: Action(body=body, **keywords))


def test_a_question_out_and_an_answer_back() -> None:
    reply = {"data": {"answer": "Paris"}, "events": [{"id": "e1", "text": "t"}, {"id": 2}], "took": "17"}
    with replies(reply) as server:
        target = http(
            server,
            request={"q": "{question}", "top": 3},
            paths={
                "answer": "data.answer",
                "retrieved": "events[*].id",
                "contexts": "events[*].text",
                "latency": "took",
            },
        )
        answer = answer_of(reply_of(target))
    assert server.requests == [{"q": "why?", "top": 3}]
    assert answer == Answer("Paris", ["e1", "2"], ["t", ""], 17.0)
    assert answer.lacks == {}


@pytest.mark.parametrize("took", [-1, -1e308, "-5", math.inf, -math.inf])
def test_a_latency_that_can_not_be_is_said(took: object) -> None:
    with replies({"answer": "x", "took": took}) as server:
        failure = reply_of(http(server, paths={"latency": "took"}))
    assert isinstance(failure, Failure)
    assert failure.cause.startswith("the latency in the reply is ")


def test_get_puts_the_question_into_the_query() -> None:
    with replies({"answer": "x"}) as server:
        target = http(server, method="GET", request={"q": "{question}", "s": "{session_id}"})
        asked(target, [Question("1", "¿qué & más?")])
    assert "GET /query?q=%C2%BFqu%C3%A9+%26+m%C3%A1s? HTTP" in server.headers[0]


def test_headers_come_from_the_environment_and_stay_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "canary-0123456789")
    reply = {"answer": "your token is canary-0123456789"}
    with replies(reply) as server:
        target = http(server, headers=["Authorization: Bearer $SECRET_TOKEN", "X-Two: a${SECRET_TOKEN}b"])
        result = asked(target, journal=tmp_path / "journal.sqlite")
    assert "Authorization: Bearer canary-0123456789" in server.headers[0]
    assert "X-Two: acanary-0123456789b" in server.headers[0]
    assert answer_of(result.in_order[0]).answer == "your token is ***"
    assert "canary" not in json.dumps(target.signature()) + repr(vars(target)) + target.name
    assert not any(b"canary-0123456789" in path.read_bytes() for path in tmp_path.iterdir())
    for header, message in (("no colon", "Name: value"), ("X: $NOT_SET_AT_ALL", "not set")):
        with pytest.raises(UsageError, match=message):
            http(server, headers=[header])


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (Action(body={"text": "x"}), "there is no 'answer' in the reply; it has {"),
        (Action(body={"answer": 7}), "'answer' in the reply is int"),
        (Action(body=["x"]), "it is not a JSON object"),
        (Action(body=b"<html><body>Hello</body></html>", headers={"Content-Type": "text/html"}), "the reply is HTML"),
        (Action(body=b"hello"), "the reply is not JSON"),
        (Action(body=b""), "the reply is not JSON"),
        (Action(body=b'{"answer": "' + b"x" * 10_000_000 + b'"}'), "too long"),
        (Action(500, {"detail": "broken"}), "HTTP 500"),
        (Action(422, {"detail": "q is missing"}), "HTTP 422: q is missing"),
        (Action(body={"answer": "x"}, cut=5), "the connection broke"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_replies_that_are_none(action: Action, message: str) -> None:
    with JudgeServer(lambda request, number: action) as server:
        failure = reply_of(http(server))
    assert isinstance(failure, Failure)
    assert failure.outcome == "target_error"
    assert message in failure.cause


def test_a_server_that_hangs() -> None:
    with JudgeServer(lambda request, number: Action(body={}, delay=3600)) as server:
        assert reply_of(http(server, timeout=2.0)) == Failure("timeout", "no answer within 2 s")


def test_a_long_reply_comes_in_parts() -> None:
    with replies({"answer": "x" * 1_000_000}) as server:
        assert len(answer_of(reply_of(http(server))).answer) == 1_000_000


def test_plain_text_is_an_answer() -> None:
    with replies(b"Paris, of course", headers={"Content-Type": "text/plain; charset=utf-8"}) as server:
        assert answer_of(reply_of(http(server))).answer == "Paris, of course"


def test_a_path_that_no_reply_has(tmp_path: Path) -> None:
    """It is misspelt: its documents are not "none retrieved", and further answers would be paid for in vain."""
    with replies({"answer": "x", "data": {"answer": "x", "sources": [{"doc": 1}]}}) as server:
        for path, instead in (
            ("data.documents[*].id", "data has answer, sources"),
            ("data.sources[*].id", "each of data.sources has doc"),
            ("answer[*].id", "answer is a text"),
            ("documents", "the reply has answer, data"),
        ):
            target = http(server, paths={"retrieved": path})
            with pytest.raises(UsageError, match=re.escape(f"no reply has '{path}': {instead}")) as error:
                asked(target, [Question(str(n), "why?") for n in range(30)], journal=tmp_path / "journal.sqlite")
            assert "retrieved_path" in str(error.value)
            assert len(server.requests) < 30
            server.requests.clear()


def test_a_path_that_was_mended_at_the_server_is_asked_anew(tmp_path: Path) -> None:
    """The same command after the error: the answers without documents are not used again."""
    bodies = [{"answer": "x"}, {"answer": "x", "docs": [{"id": 1}]}]
    with JudgeServer(lambda request, number: Action(body=bodies[number > 1])) as server:
        paths = {"retrieved": "docs[*].id"}
        with pytest.raises(UsageError, match="no reply has 'docs"):
            asked(http(server, paths=paths), [Question("1", "why?")], journal=tmp_path / "journal.sqlite")
        again = asked(http(server, paths=paths), [Question("1", "why?")], journal=tmp_path / "journal.sqlite")
    assert answer_of(again.in_order[0]).retrieved == ["1"]


def test_a_path_that_some_replies_lack() -> None:
    bodies = [{"answer": "x"}, {"answer": "x", "docs": []}, {"answer": "x", "docs": None}]
    with JudgeServer(lambda request, number: Action(body=bodies[int(request["question"])])) as server:
        target = http(server, paths={"retrieved": "docs[*].id", "contexts": "docs[*].text"})
        answers = [answer_of(reply) for reply in asked(target, [Question(n, n) for n in "012"]).in_order]
    assert [answer.retrieved for answer in answers] == [None, [], []]
    assert [answer.contexts for answer in answers] == [None, [], []]


@pytest.mark.parametrize(
    ("pieces", "paths"),
    [
        ([{"delta": "It is "}, {"delta": "Paris"}, {"events": [{"id": "e1"}]}], {}),
        (
            [
                {"choices": [{"delta": {"content": "It is "}}]},
                {"choices": [{"delta": {"content": "Paris"}}]},
                {"events": [{"id": "e1"}]},
            ],
            {},
        ),
        ([{"x": {"y": "It is "}}, {"x": {"y": "Paris"}}, {"events": [{"id": "e1"}]}], {"delta": "x.y"}),
    ],
)  # fmt: skip
def test_streams(pieces: list[Any], paths: dict[str, str]) -> None:
    lines = [b": hello\n\n", *(f"data: {json.dumps(piece)}\n\n".encode() for piece in pieces), b"data: [DONE]\n\n"]
    with JudgeServer(lambda request, number: Action(pieces=lines, pause=0.05)) as server:
        answer = answer_of(reply_of(http(server, paths={"retrieved": "events[*].id", **paths})))
    assert (answer.answer, answer.retrieved) == ("It is Paris", ["e1"])
    assert answer.time_to_first_token_ms is not None
    assert 80 <= answer.time_to_first_token_ms < answer.latency_ms


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ("data: It is\n\ndata:  Paris\n\n", "It is Paris"),
        ("data: It is \n\ndata: 42\n\ndata:  \n\ndata: events\n\n", "It is 42 events"),
        ("data: line one\ndata: line two\n\n", "line one\nline two"),
        ('data: {"delta":\ndata: "whole"}\n\n', "whole"),
        (
            'data: {"delta": "Hello "}\n\ndata: {"delta": "world"}\n\ndata: {"answer": "Hello world!"}\n\n',
            "Hello world!",
        ),
        ('data: {"text": "Searching..."}\n\ndata: {"delta": "Paris"}\n\n', "Paris"),
        ('data: {"answer": "It "}\n\ndata: {"answer": "is"}\n\n', "It is"),
        ('event: x\ndata: {"delta": "no end"}', "no end"),
    ],
)
def test_streams_of_all_kinds(lines: str, answer: str) -> None:
    with JudgeServer(lambda request, number: Action(pieces=[lines.encode()])) as server:
        assert answer_of(reply_of(http(server))).answer == answer


def test_a_stream_that_breaks_off() -> None:
    pieces = [b'data: {"delta": "par"}\n\n', b'event: error\ndata: {"error": "model crashed"}\n\n']
    with JudgeServer(lambda request, number: Action(pieces=pieces)) as server:
        failure = reply_of(http(server))
    assert isinstance(failure, Failure)
    assert "model crashed" in failure.cause


@pytest.mark.parametrize("events", [[], "", {}, None, False])
def test_nothing_retrieved_is_nothing(events: Any) -> None:
    with replies({"answer": "x", "events": events}) as server:
        assert answer_of(reply_of(http(server, paths={"retrieved": "events"}))).retrieved == []
    if events is not None:
        assert answer_of(reply_of(python(lambda question: {"answer": "x", "events": events}))).retrieved == []


def test_a_list_by_its_path() -> None:
    with replies({"answer": "x", "events": [{"id": 1, "text": "one"}, None, "", "two"]}) as server:
        answer = answer_of(reply_of(http(server, paths={"retrieved": "events", "contexts": "events[*]"})))
    assert (answer.retrieved, answer.contexts) == (["1", "two"], ["one", "", "", "two"])


def test_secrets_are_taken_out_of_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOK", "canary-0123456789")
    echo = "it was canary-0123456789"
    for action in (
        Action(body={"answer": "x", "events": [{"id": echo}], "c": echo, "t": echo}),
        Action(body=f"<html>{echo}".encode(), headers={"Content-Type": "text/html"}),
        Action(422, {"detail": echo}),
        Action(pieces=[f"data: {echo}\n\n".encode()]),
    ):
        with JudgeServer(always(action)) as server:
            target = http(
                server, headers=["Authorization: Token $TOK"],
                paths={} if action.pieces else {"retrieved": "events[*].id", "conversation": "c", "latency": "t"},
            )  # fmt: skip
            reply = asked(target, journal=tmp_path / "journal.sqlite").in_order[0]
        assert "canary" not in repr(reply)
    assert not any(b"canary-0123" in path.read_bytes() for path in tmp_path.iterdir())


def test_headers_that_are_written_out_tell_systems_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOK", "one")
    with JudgeServer() as server:
        names = {http(server, headers=[f"X-Tenant: {tenant}", "X-Key: $TOK"]).name for tenant in "ab"}
        monkeypatch.setenv("TOK", "two")
        names |= {http(server, headers=[f"X-Tenant: {tenant}", "X-Key: $TOK"]).name for tenant in "ab"}
    assert len(names) == 2


def test_a_wrong_path_is_noticed_before_everything_is_asked() -> None:
    with replies({"reply": "x"}) as server:
        with pytest.raises(UsageError, match="answer_path"):
            asked(http(server), [Question(str(i), "q") for i in range(100)])
        assert server.count < 20


def test_what_an_object_holds_is_part_of_its_name() -> None:
    class Engine:
        def __init__(self, k: int) -> None:
            self.k = k

        def query(self, question: str) -> str:
            return str(self.k)

    def made(k: int) -> Any:
        return lambda question: str(k)

    assert python(Engine(3)).name == python(Engine(3)).name != python(Engine(5)).name
    assert python(made(3)).name != python(made(5)).name
    assert python(functools.partial(max, 3)).name != python(functools.partial(max, 5)).name


@pytest.mark.parametrize("odd", ["cancelled", "words", "mapping", "generator", "surrogate", "own timeout"])
def test_odd_things_are_failures_of_their_question(odd: str) -> None:
    class Wordless(Exception):
        def __str__(self) -> str:
            raise ValueError

    class Bad(dict[str, Any]):
        def get(self, *arguments: Any) -> Any:
            raise KeyError("x")

    def broken() -> Any:
        yield "a"
        raise ValueError("lazy")

    def function(question: str) -> Any:
        if question == "fine":
            return "fine"
        if odd == "mapping":
            return Bad()
        if odd == "generator":
            return {"answer": "x", "retrieved": broken()}
        raise {
            "cancelled": asyncio.CancelledError(), "words": Wordless(), "surrogate": ValueError("\ud800"),
            "own timeout": TimeoutError("the pool is empty"),
        }[odd]  # fmt: skip

    result = asked(
        python(function), [Question("1", "odd"), Question("2", "fine"), Question("3", "odd"), Question("4", "fine")]
    )
    assert [isinstance(reply, Failure) for reply in result.in_order] == [True, False, True, False]
    assert {reply.outcome for reply in result.in_order if isinstance(reply, Failure)} == {"target_error"}


def test_a_stream_that_says_nothing() -> None:
    with JudgeServer(lambda request, number: Action(pieces=[b"data: [DONE]\n\n"])) as server:
        failure = reply_of(http(server))
    assert isinstance(failure, Failure)


def test_a_conversation_keeps_the_id_that_the_server_gave_it() -> None:
    def behave(request: dict[str, Any], number: int) -> Action:
        return Action(body={"answer": request["q"], "conversation": f"server-{request['q'][0]}"})

    with JudgeServer(behave) as server:
        target = http(
            server,
            request={"q": "{question}", "id": "{conversation_id}", "h": "{history}"},
            paths={"conversation": "conversation"},
        )
        asked(target, [Question("1", "a1", "s", turn=0), Question("2", "a2", "s", turn=1), Question("3", "b1")])
    sent = {request["q"]: request for request in server.requests}
    assert (sent["a1"]["id"], sent["a2"]["id"], sent["b1"]["id"]) == ("s", "server-a", None)
    assert [message["content"] for message in sent["a2"]["h"]] == ["a1", "a1"]


def test_an_address_that_is_none() -> None:
    for url in ("ftp://x", "http://", "localhost:8000"):
        with pytest.raises(UsageError, match="not an address"):
            HttpTarget(url)
    with pytest.raises(UsageError, match="password"):
        HttpTarget("http://me:secret@x/")
    with pytest.raises(UsageError, match=r"has no \{question\}"):
        HttpTarget("http://x/", request={"q": "why"})
    with pytest.raises(UsageError, match="method"):
        HttpTarget("http://x/", method="DELETE")


# -- a model -----------------------------------------------------------------------------------------------------------


def test_a_model_without_retrieval() -> None:
    with JudgeServer(lambda request, number: Action(body=completion("Paris"))) as server:
        target = ModelTarget(Endpoint.of("m", server.url, "sk-key"), Price(1.0, 2.0))
        result = asked(target, [Question("1", "a", "s", turn=0), Question("2", "b", "s", turn=1)])
    assert answer_of(result.in_order[0]).retrieved == []
    assert [message["content"] for message in server.requests[1]["messages"]] == ["a", "Paris", "b"]
    assert result.usage.cost_usd == pytest.approx(2 * (100 * 1.0 + 10 * 2.0) / 1e6)


@pytest.mark.parametrize(("prefix", "kind"), [("anthropic", AnthropicServer), ("gemini", GeminiServer)])
def test_a_model_of_another_vendor(prefix: str, kind: type[FormatServer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{prefix.upper()}_API_KEY", "sk-key-of-the-vendor")
    with kind("Paris") as server:
        target = open_target(f"{prefix}:m-1", base_url=server.root)
        replies = asked(target, [Question("1", "a", "s", turn=0), Question("2", "b", "s", turn=1)]).in_order
    assert [answer_of(reply).answer for reply in replies] == ["Paris", "Paris"]
    assert {"kind": prefix, "provider": prefix, "model": "m-1"}.items() <= target.signature().items()
    assert "sk-key" not in target.name


def test_a_model_at_azure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_KEY", "azure-key-0123456789")
    with OpenAIServer("Paris") as server:
        server.wants = "api-key: azure-key-0123456789"
        url = f"{server.root}/openai/deployments/m-1"
        target = open_target("openai:m-1", base_url=url, headers={"api-key": "$AZURE_KEY"}, api_version="2024-10-21")
        assert answer_of(reply_of(target)).answer == "Paris"
    assert "azure-key" not in target.name


def test_a_model_that_declines() -> None:
    with JudgeServer(lambda request, number: Action(body=completion(None, refusal="no"))) as server:
        assert reply_of(ModelTarget(Endpoint.of("m", server.url, "k"))) == Failure(
            "target_error", "the model gave no answer: no"
        )
