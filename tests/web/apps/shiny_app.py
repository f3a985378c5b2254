"""Shiny's chat: `shiny run shiny_app.py --port PORT`."""

from answers import astream
from shiny.express import ui

ui.page_opts(title="A chat", fillable=True)
chat = ui.Chat(id="chat")
chat.ui()


@chat.on_user_submit
async def answer(question: str):
    await chat.append_message_stream(astream(question))
