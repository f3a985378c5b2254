import ragmeter


def evaluate_tool_call_accuracy():
    # Define the conversation with tool calls
    user_input = [
        dict(role="user", content="What's the weather like in New York right now?"),
        dict(
            role="assistant",
            content="The current temperature in New York is 75°F and it's partly cloudy.",
            tool_calls=[dict(name="weather_check", args={"location": "New York"})],
        ),
        dict(role="user", content="Can you translate that to Celsius?"),
        dict(
            role="assistant",
            content="Let me convert that to Celsius for you.",
            tool_calls=[
                dict(
                    name="temperature_conversion", args={"temperature_fahrenheit": 75}
                )
            ],
        ),
    ]

    # Define expected tool calls
    reference_tool_calls = [
        dict(name="weather_check", args={"location": "New York"}),
        dict(name="temperature_conversion", args={"temperature_fahrenheit": 75}),
    ]

    # Evaluate
    row = dict(
        user_input=user_input,
        reference_tool_calls=reference_tool_calls,
    )
    (result,) = ragmeter.evaluate([row], metrics="tool_calls_match[order=yes]").values()
    print(f"Tool Call Accuracy: {result.mean}")


if __name__ == "__main__":
    evaluate_tool_call_accuracy()
