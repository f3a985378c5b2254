"""Streamlit's chat elements: `streamlit run streamlit_app.py --server.port PORT`."""

import streamlit as st
from answers import stream

st.title("A chat")
if "messages" not in st.session_state:
    st.session_state.messages = []
for message in st.session_state.messages:
    with st.chat_message(message["role"]):
        st.markdown(message["content"])
if question := st.chat_input("Ask something"):
    st.session_state.messages.append({"role": "user", "content": question})
    with st.chat_message("user"):
        st.markdown(question)
    with st.chat_message("assistant"):
        text = st.write_stream(stream(question))
    st.session_state.messages.append({"role": "assistant", "content": text})
