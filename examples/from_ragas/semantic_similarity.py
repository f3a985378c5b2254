import ragmeter

# Setup embeddings
embeddings = "openai:text-embedding-3-small"

# Evaluate
row = dict(
    reference="The Eiffel Tower is located in Paris. It has a height of 1000ft.",
    response="The Eiffel Tower is located in Paris.",
)
(result,) = ragmeter.evaluate([row], metrics="semantic_similarity", embedding_model=embeddings).values()
print(f"Semantic Similarity Score: {result.mean}")
