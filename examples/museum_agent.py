"""An agent for `ragmeter crag generate`: it knows a few facts about pictures, and says so when it doesn't.

A real one would look at the image and search. What matters here is the form: two methods, and nothing to inherit from.
"""

FACTS = {
    ("mona lisa", "painted"): "Leonardo da Vinci painted it.",
    ("mona lisa", "hang"): "In the Louvre",
    ("mona lisa", "wide"): "53 cm",
    ("night watch", "painted"): "Rembrandt",
    ("night watch", "year"): "It was painted in 1635.",
    ("night watch", "figures"): "There are many. " + "One more figure stands behind the others. " * 20,
}
PICTURES = ("mona lisa", "night watch")


class MuseumAgent:
    """Answers questions about two pictures."""

    def get_batch_size(self) -> int:
        """How many conversations it takes at once."""
        return 8

    def batch_generate_response(self, queries, images, message_histories):  # type: ignore[no-untyped-def]
        """One answer for each query; what was said before is in the history."""
        return [self._answer(query, history) for query, history in zip(queries, message_histories, strict=True)]

    def _answer(self, query: str, history: list[dict[str, str]]) -> str:
        said = " ".join([*(message["content"] for message in history), query]).lower()
        picture = next((name for name in PICTURES if name in said), "")
        for (name, word), fact in FACTS.items():
            if name == picture and word in query.lower():
                return fact
        return "I don't know"
