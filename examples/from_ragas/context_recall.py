import ragmeter

# Setup LLM
judge = ragmeter.Judge("gpt-4o-mini")

# Evaluate
row = dict(
    user_input="Where is the Eiffel Tower located?",
    retrieved_contexts=["Paris is the capital of France."],
    reference="The Eiffel Tower is located in Paris.",
)
result = ragmeter.evaluate([row], metrics="context_claim_recall", judge=judge)["context_claim_recall"]
print(f"Context Recall Score: {result.mean}")
