"""The only place with concurrency, retries, rate limits, budgets and a journal of replies.

`replies/` records replies on disk and finds them again; `limits/` makes calls: how many at once, how often each, and
at what cost. `network/` is what goes over the wire, `keys/` what must not be shown of it, `process/` signals and the
event loop. What is called, a chat model or a user's agent, comes as a function that returns a reply, or raises
TryAgain or GiveUp.
"""
