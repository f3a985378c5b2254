"""Everything that waits, repeats, costs or remembers: the one place for it.

`journal` keeps what was paid for, `pace` decides how much goes on at once, `budget` what may still be spent, and
`caller` makes the calls by their rules. `loop` runs it all and listens for Ctrl-C. What is called, a chat model or a
user's agent, is none of their business: it comes as a function that answers, or says whether to try again.
"""
