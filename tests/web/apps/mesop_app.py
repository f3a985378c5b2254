"""Mesop's chat: `mesop mesop_app.py --prod --port PORT`."""

import mesop
import mesop.labs
from answers import stream


def answer(question: str, history: list[mesop.labs.ChatMessage]):
    yield from stream(question)


@mesop.page(path="/", title="A chat")
def page():
    mesop.labs.chat(answer, title="A chat", bot_user="Bot")
