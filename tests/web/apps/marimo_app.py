"""marimo's chat: `marimo run marimo_app.py --headless --no-token --port PORT`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    from answers import astream

    async def answer(messages, config):
        text = ""
        async for word in astream(messages[-1].content):
            text += word
            yield text

    mo.ui.chat(answer)
    return


if __name__ == "__main__":
    app.run()
