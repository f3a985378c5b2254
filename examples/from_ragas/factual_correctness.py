import ragmeter

# Setup LLM
judge = ragmeter.Judge("gpt-4o-mini")

# Evaluate
row = dict(
    response="The Eiffel Tower is located in Paris.",
    reference="The Eiffel Tower is located in Paris. It has a height of 1000ft.",
)
result = ragmeter.evaluate([row], metrics="claim_f1", judge=judge)["claim_f1"]
print(f"Factual Correctness Score: {result.mean}")
