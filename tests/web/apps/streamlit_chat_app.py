"""The streamlit-chat component, as in its example: `streamlit run streamlit_chat_app.py --server.port PORT`."""

import streamlit as st
from answers import stream
from streamlit_chat import message

st.session_state.setdefault("turns", [])


def send():
    question = st.session_state.box
    st.session_state.turns.append((question, "".join(stream(question))))
    st.session_state.box = ""


with st.container():
    for place, (question, answer) in enumerate(st.session_state.turns):
        message(question, is_user=True, key=f"{place}-user")
        message(answer, key=f"{place}")
st.text_input("Ask something", on_change=send, key="box")
