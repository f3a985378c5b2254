"""Panel's ChatInterface: `panel serve panel_app.py --port PORT`."""

import panel
from answers import astream

panel.extension()


async def answer(contents, user, instance):
    text = ""
    async for word in astream(contents):
        text += word
        yield text


panel.chat.ChatInterface(callback=answer, callback_user="Assistant").servable()
