"""Gradio's ChatInterface: `python gradio_app.py PORT`."""

import sys

import gradio
from answers import stream


def answer(message, history):
    text = ""
    for word in stream(message):
        text += word
        yield text


gradio.ChatInterface(answer).queue(default_concurrency_limit=8).launch(
    server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True
)
