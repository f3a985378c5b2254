"""marimo's chat: `marimo run marimo_app.py --headless --no-token --port PORT`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    from answers import astream

    async def answer(messages, config):
        async for word in astream(messages[-1].content):
            yield word

    mo.ui.chat(answer)
    return


if __name__ == "__main__":
    app.run()
