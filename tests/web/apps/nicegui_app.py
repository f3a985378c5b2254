"""NiceGUI's chat messages, as in its example with a language model: `python nicegui_app.py PORT [spinner]`.

The example shows a spinner below the messages until the answer is complete; without it nothing tells the end.
"""

import sys

from answers import astream
from nicegui import ui


@ui.page("/")
def main():
    async def send():
        question, text.value = text.value, ""
        with container:
            ui.chat_message(text=question, name="You", sent=True)
            message = ui.chat_message(name="Bot", sent=False)
            with message:
                words = ui.markdown()
            spinner = ui.spinner(type="dots") if "spinner" in sys.argv else None
        try:
            answer = ""
            async for word in astream(question):
                answer += word
                words.set_content(answer)
                ui.run_javascript("window.scrollTo(0, document.body.scrollHeight)")
        except Exception as error:
            ui.notify(f"Error: {error}", type="negative")
        if spinner is not None:
            container.remove(spinner)

    container = ui.column().classes("w-full max-w-2xl mx-auto flex-grow items-stretch")
    with ui.footer().classes("bg-white"), ui.row().classes("w-full no-wrap items-center"):
        text = ui.input(placeholder="message").props("rounded outlined input-class=mx-3").classes("w-full self-center")
        text.on("keydown.enter", send)


ui.run(port=int(sys.argv[1]), host="127.0.0.1", show=False, reload=False, title="A chat")
