import ragmeter

# Setup LLM and embeddings
judge = ragmeter.Judge("gpt-4o-mini")
embeddings = "openai:text-embedding-3-small"

# Evaluate
row = dict(
    user_input="When was the first super bowl?",
    response="The first superbowl was held on Jan 15, 1967",
    reference="The first superbowl was held on January 15, 1967",
)
result = ragmeter.evaluate([row], metrics="claim_f1,semantic_similarity", judge=judge, embedding_model=embeddings)
claims, similarity = result.values()
print(f"Answer Correctness Score: {0.75 * claims.mean + 0.25 * similarity.mean}")
