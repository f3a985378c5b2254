"""Servers on loopback that speak a vendor's wire format, and are as strict about requests as the vendor's own.

`with AnthropicServer("Yes") as server`: it replies that text to every request that it takes. `troubles` come first.
"""

from __future__ import annotations

from typing import Any

from tests.judge_server import Action, JudgeServer, completion


class FormatServer(JudgeServer):
    """`wants` is a key that must be there: `Name: value` as a header. `reply` is a text, or an action of its own."""

    wants = ""
    model = "m-1"

    def __init__(self, reply: str | Action = "Yes", *troubles: Action, takes: frozenset[str] | None = None) -> None:
        super().__init__(self._behave)
        self.reply = reply
        self.troubles = troubles
        self.takes = takes or self.known

    known: frozenset[str] = frozenset()

    @property
    def root(self) -> str:
        """The address without a version."""
        return f"http://127.0.0.1:{self.port}"

    def _behave(self, request: dict[str, Any], number: int) -> Action:
        if number <= len(self.troubles):
            return self.troubles[number - 1]
        head = self.headers[-1]
        if self.wants and f"\r\n{self.wants}\r\n".lower() not in f"{head}\r\n".lower():
            return self.error(401, "invalid key")
        if wrong := self.wrong(head.split("\r\n")[0], head.lower(), request):
            return self.error(400, wrong)
        return self.reply if isinstance(self.reply, Action) else Action(body=self.good(self.reply))

    def wrong(self, line: str, head: str, request: dict[str, Any]) -> str:
        """What the format does not allow in a request; nothing if all is well."""
        raise NotImplementedError

    @staticmethod
    def error(status: int, message: str) -> Action:
        """An error in the vendor's form."""
        return Action(status, {"error": {"message": message}})

    @staticmethod
    def good(text: str | None, finish: str = "", **more: Any) -> dict[str, Any]:
        """A reply in the vendor's form: 100 tokens in, 10 out."""
        raise NotImplementedError


class OpenAIServer(FormatServer):
    """Chat completions, as OpenAI and Azure have them."""

    known = frozenset(
        {"model", "messages", "temperature", "seed", "max_tokens", "response_format", "logprobs", "top_logprobs"}
    )

    def wrong(self, line: str, head: str, request: dict[str, Any]) -> str:
        azure = "POST /openai/deployments/m-1/chat/completions?api-version="
        if not line.startswith(("POST /v1/chat/completions", azure)):
            return f"no such service: {line}"
        if unknown := request.keys() - self.takes:
            return f"Unsupported parameter: '{sorted(unknown)[0]}' is not supported with this model."
        if "top_logprobs" in request and not request.get("logprobs"):
            return "'top_logprobs' is only there with 'logprobs'"
        return ""

    @staticmethod
    def good(text: str | None, finish: str = "stop", **more: Any) -> dict[str, Any]:
        return completion(text, finish, **more)


class AnthropicServer(FormatServer):
    """`/v1/messages`."""

    known = frozenset({"model", "messages", "system", "max_tokens", "temperature"})

    def wrong(self, line: str, head: str, request: dict[str, Any]) -> str:
        if line != "POST /v1/messages HTTP/1.1":
            return f"no such service: {line}"
        if "\r\nanthropic-version: 2023-06-01" not in head:
            return "anthropic-version: header is required"
        if "authorization:" in head:
            return "two ways to say who asks"
        if unknown := request.keys() - self.takes:
            return f"{sorted(unknown)[0]}: Extra inputs are not permitted"
        if not isinstance(request.get("max_tokens"), int):
            return "max_tokens: Field required"
        if not 0 <= request.get("temperature", 0) <= 1:
            return "temperature: range: 0..1"
        roles = [message["role"] for message in request["messages"]]
        if set(roles) - {"user", "assistant"} or roles[0] != "user":
            return f"messages: Unexpected role: {roles}"
        return ""

    @staticmethod
    def error(status: int, message: str) -> Action:
        return Action(status, {"type": "error", "error": {"type": "invalid_request_error", "message": message}})

    @staticmethod
    def good(text: str | None, finish: str = "end_turn", **more: Any) -> dict[str, Any]:
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [] if text is None else [{"type": "text", "text": text}],
            "stop_reason": finish,
            "usage": {"input_tokens": 100, "output_tokens": 10},
            **more,
        }


class GeminiServer(FormatServer):
    """`:generateContent`. `takes` are the fields of generationConfig."""

    known = frozenset({"temperature", "seed", "maxOutputTokens", "responseLogprobs", "logprobs"})

    def wrong(self, line: str, head: str, request: dict[str, Any]) -> str:
        if line != "POST /v1beta/models/m-1:generateContent HTTP/1.1":
            return f"no such service: {line}"
        if "authorization:" in head:
            return "two ways to say who asks"
        if unknown := request.keys() - {"contents", "systemInstruction", "generationConfig"}:
            return f'Invalid JSON payload received. Unknown name "{sorted(unknown)[0]}": Cannot find field.'
        config = request["generationConfig"]
        if unknown := config.keys() - self.takes:
            if "responseLogprobs" in unknown:
                return "Logprobs is not enabled for models/m-1"
            return f"Unknown name \"{sorted(unknown)[0]}\" at 'generation_config': Cannot find field."
        if "logprobs" in config and not config.get("responseLogprobs"):
            return "logprobs is only there with responseLogprobs"
        if any(content["role"] not in ("user", "model") for content in request["contents"]):
            return "Please use a valid role: user, model."
        return ""

    @staticmethod
    def error(status: int, message: str) -> Action:
        return Action(status, {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}})

    @staticmethod
    def good(text: str | None, finish: str = "STOP", **more: Any) -> dict[str, Any]:
        content = {"role": "model"} if text is None else {"role": "model", "parts": [{"text": text}]}
        return {
            "candidates": [{"content": content, "finishReason": finish, "index": 0, **more}],
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
            "modelVersion": "m-1",
        }
