"""Making test sets: the plan, the questions that are written and checked round by round, and the run that is kept."""
