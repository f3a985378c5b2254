"""The only place with concurrency, retries, rate limits, budgets and a journal of replies.

`journal` records replies on disk (`journal_file` opens and checks it, `charges` knows the calls under way), `pace`
limits how many calls are under way, `budget` limits what they cost, `caller` makes calls within these limits, `loop`
runs them and handles Ctrl-C and other `signals`, and `calls` puts them together. What is called, a chat model or a
user's agent, comes as a function that returns a reply, or raises TryAgain or GiveUp.
"""
