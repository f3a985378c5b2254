"""A chat of Dash's components, whole answers in Markdown: `python dash_app.py PORT`."""

import sys

from answers import stream
from dash import Dash, Input, Output, State, dcc, html

app = Dash(title="A chat")
messages = dcc.Loading(html.Div(id="messages"))
box = dcc.Input(id="question", placeholder="Ask something", style={"width": "80%"})
app.layout = html.Div([html.H3("A chat"), messages, box, html.Button("Send", id="send")])


@app.callback(
    Output("messages", "children"), Output("question", "value"),
    Input("send", "n_clicks"), Input("question", "n_submit"),
    State("question", "value"), State("messages", "children"), prevent_initial_call=True,
)  # fmt: skip
def answer(clicks, submits, question, shown):
    text = dcc.Markdown("".join(stream(question)))
    turn = [html.Div(f"You: {question}", className="user"), html.Div(text, className="bot")]
    return [*(shown or []), *turn], ""


app.run(host="127.0.0.1", port=sys.argv[1], debug=False)
