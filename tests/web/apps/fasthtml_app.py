"""FastHTML's chat example, which swaps in whole messages: `python fasthtml_app.py PORT`. $HTMX is the script's file."""

import os
import sys
from pathlib import Path

from answers import stream
from fasthtml.common import Button, Div, FileResponse, Form, Input, Script, Titled, fast_app, serve

app, route = fast_app(default_hdrs=False, hdrs=[Script(src="/htmx")], live=False)


def message(text, who):
    header = Div(who, cls="chat-header")
    bubble = Div(text, cls=f"chat-bubble chat-bubble-{who}", style="white-space: pre-wrap")
    return Div(header, bubble, cls=f"chat chat-{who}")


def box():
    return Input(name="question", id="question", placeholder="Type a message", hx_swap_oob="true")


@route("/htmx")
def script():
    return FileResponse(Path(os.environ["HTMX"]))


@route("/", methods="get")
def page():
    form = Form(box(), Button("Send"), hx_post="/", hx_target="#messages", hx_swap="beforeend")
    return Titled("A chat", Div(id="messages"), form)


@route("/", methods="post")
def answer(question: str):
    return message(question, "user"), message("".join(stream(question)), "assistant"), box()


serve(port=int(sys.argv[1]), host="127.0.0.1", reload=False)
