import ragmeter


def evaluate_agent_goal_accuracy_with_reference():
    # Setup LLM
    judge = ragmeter.Judge("gpt-4o-mini")

    user_input = [
        dict(
            role="user",
            content="Hey, book a table at the nearest best Chinese restaurant for 8:00pm"
        ),
        dict(
            role="assistant",
            content="Sure, let me find the best options for you.",
            tool_calls=[
                dict(
                    name="restaurant_search",
                    args={"cuisine": "Chinese", "time": "8:00pm"},
                )
            ],
        ),
        dict(
            role="tool",
            content="Found a few options: 1. Golden Dragon, 2. Jade Palace"
        ),
        dict(
            role="assistant",
            content="I found some great options: Golden Dragon and Jade Palace. Which one would you prefer?"
        ),
        dict(role="user", content="Let's go with Golden Dragon."),
        dict(
            role="assistant",
            content="Great choice! I'll book a table for 8:00pm at Golden Dragon.",
            tool_calls=[
                dict(
                    name="restaurant_book",
                    args={"name": "Golden Dragon", "time": "8:00pm"},
                )
            ],
        ),
        dict(role="tool", content="Table booked at Golden Dragon for 8:00pm."),
        dict(
            role="assistant",
            content="Your table at Golden Dragon is booked for 8:00pm. Enjoy your meal!"
        ),
        dict(role="user", content="thanks"),
    ]

    row = dict(
        user_input=user_input,
        reference="Table booked at one of the chinese restaurants at 8 pm",
    )
    result = ragmeter.evaluate([row], metrics="llm_correct", judge=judge)["llm_correct"]
    print(f"Agent Goal Accuracy: {result.mean}")


if __name__ == "__main__":
    evaluate_agent_goal_accuracy_with_reference()
