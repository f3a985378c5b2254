import ragmeter

# Setup LLM
judge = ragmeter.Judge("gpt-4o-mini")

# Evaluate
row = dict(
    user_input="When was the first super bowl?",
    response="The first superbowl was held on Jan 15, 1967",
    retrieved_contexts=[
        "The First AFL–NFL World Championship Game was an American football game played on January 15, 1967, at the Los Angeles Memorial Coliseum in Los Angeles."
    ],
)
result = ragmeter.evaluate([row], metrics="faithfulness", judge=judge)["faithfulness"]
print(f"Faithfulness Score: {result.mean}")
