"""Taipy's chat control: `python taipy_app.py PORT`."""

import sys

from answers import stream
from taipy.gui import Gui

messages = []
users = [("me", "Me"), ("bot", "Bot")]


def send(state, name, payload):
    question, sender = payload["args"][2:4]
    asked = [*state.messages, (f"{len(state.messages)}", question, sender)]
    state.messages = asked
    state.messages = [*asked, (f"{len(asked)}", "".join(stream(question)), "bot")]


page = "<|{messages}|chat|users={users}|sender_id=me|on_action=send|mode=markdown|>"
Gui(page).run(host="127.0.0.1", port=int(sys.argv[1]), run_browser=False, use_reloader=False, title="A chat")
