"""The process itself: its signals, its event loop, its cores and its memory."""
