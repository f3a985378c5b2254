"""Chainlit: `chainlit run chainlit_app.py --headless --port PORT`."""

import chainlit
from answers import astream


@chainlit.on_message
async def answer(message):
    reply = chainlit.Message(content="")
    async for word in astream(message.content):
        await reply.stream_token(word)
    await reply.update()
