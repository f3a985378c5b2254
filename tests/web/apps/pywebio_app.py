"""PyWebIO's input in a loop, with messages in a scrollable box: `python pywebio_app.py PORT`."""

import sys

from answers import stream
from pywebio import start_server
from pywebio.input import input as ask
from pywebio.output import output, put_markdown, put_scrollable


def main():
    messages = output()
    put_scrollable(messages, height=400, keep_bottom=True)
    while True:
        question = ask(placeholder="Ask something")
        messages.append(put_markdown(f"**You**: {question}"))
        messages.append(put_markdown("".join(stream(question))))


start_server(main, port=int(sys.argv[1]), host="127.0.0.1", cdn=False)
