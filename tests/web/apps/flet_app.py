"""Flet in the browser, which draws itself on a canvas: `python flet_app.py PORT`."""

import sys

import flet
from answers import stream


def main(page: flet.Page):
    def send(event):
        messages.controls.append(flet.Text(box.value))
        messages.controls.append(flet.Text("".join(stream(box.value))))
        box.value = ""
        page.update()

    messages, box = flet.Column(), flet.TextField(hint_text="Ask something", on_submit=send)
    page.add(messages, box)


flet.run(main, host="127.0.0.1", port=int(sys.argv[1]), view=None, no_cdn=True)
