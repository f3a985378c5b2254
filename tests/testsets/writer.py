"""Documents about towns, and a model that writes questions about them."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from tests.judge_server import texts

_NAMES = ("Abel", "Bruno", "Carla", "Dora", "Emil", "Frida", "Gustav", "Hanna", "Ivan", "Jana")


def sentence(number: int) -> str:
    """A sentence that no other is like."""
    return f"The town of Place{number} was founded by {_NAMES[number % 10]} Founder{number} beside the river S{number}."


def passage(number: int) -> str:
    """A passage about a town."""
    return (
        f"{sentence(number)} Its castle{number} holds a museum{number} of clocks{number}, which opened after "
        f"war{number}. Every spring{number} a market{number} for cheese{number} fills the square{number}."
    )


def write_folder(folder: Path, documents: int, passages: int = 2) -> Path:
    """A folder of documents, each with a few sections."""
    folder.mkdir()
    for document in range(documents):
        sections = (
            f"## Town {number}\n\n{passage(number)}\n"
            for number in range(document * passages, (document + 1) * passages)
        )
        (folder / f"doc{document}.md").write_text(f"# Guide {document}\n\n" + "\n".join(sections), encoding="utf-8")
    return folder


def pdf(*pages: str) -> bytes:
    """A PDF with these texts, a page for each."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    font = "<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >> >>"
    bodies = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    for number, text in enumerate(pages):
        page = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources {font} /Contents {4 + 2 * number} 0 R >>"
        )
        lines = " ".join(f"({line}) '" for line in textwrap.wrap(text, 80))
        shown = f"BT /F 10 Tf 12 TL 40 760 Td {lines} ET"
        bodies += [page, f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream"]
    document, places = "%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(document))
        document += f"{number} 0 obj\n{body}\nendobj\n"
    entries = "".join(f"{place:010} 00000 n \n" for place in places)
    table = f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{entries}"
    end = f"trailer << /Size {len(bodies) + 1} /Root 1 0 R >>\nstartxref\n{len(document)}\n%%EOF\n"
    return (document + table + end).encode("latin-1")


def write_chunks(path: Path, n: int, sources: int = 0) -> Path:
    """A file of chunks with ids."""
    rows = [
        {"id": f"c{number}", "text": passage(number), **({"source": f"s{number % sources}"} if sources else {})}
        for number in range(n)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def shown(prompt: str) -> dict[str, str]:
    """The texts that a prompt shows, by their labels."""
    return texts({"messages": [{"content": prompt}]})


def reply(prompt: str) -> str:
    """The reply of a model that does what it is told: about the first sentence of each passage."""
    fields = shown(prompt)
    if "Does the passage answer" in prompt:
        return "Yes"
    if "Answer the question from what you know" in prompt:
        return "unknown"
    if "Passage 2" in fields:
        first, second = fields["Passage 1"].split(".")[0], fields["Passage 2"].split(".")[0]
        towns = [text.split("of ")[1].split()[0] for text in (first, second)]
        question = f"Which rivers do {towns[0]} and {towns[1]} stand beside?"
        answer = f"{first.split()[-1]} and {second.split()[-1]}"
        return json.dumps({"sentence": first, "sentence_2": second, "question": question, "answer": answer})
    evidence = fields["Passage"].split(".")[0]
    town, founder = evidence.split("of ")[1].split()[0], evidence.split("by ")[1].split(" beside")[0]
    if '"keywords"' in prompt:
        return json.dumps({"sentence": evidence, "keywords": f"founder of {town}", "answer": founder})
    if "Conversation" in fields:
        done = fields["Conversation"].count("\n")
        asked = f"And what else is there in it besides thing{done} of {town}?"
        return json.dumps({"sentence": evidence, "question": asked, "answer": evidence.split()[-1]})
    start = "How was" if "How or Why" in prompt else "Who founded"
    return json.dumps({"sentence": evidence, "question": f"{start} {town}?", "answer": founder})


def writes_questions(request: dict[str, Any]) -> bool:
    """Whether a request is one of `ragmeter questions`."""
    content = request["messages"][-1]["content"]
    return '{"sentence":' in content or "Does the passage answer the question" in content


def plain_reply(prompt: str) -> str:
    """The reply of a model that writes about any text: its first sentence, and what stands at its end."""
    fields = shown(prompt)
    if "Does the passage answer" in prompt:
        return "Yes"
    passages = [text for name, text in sorted(fields.items()) if name.startswith("Passage")]
    sentences = [text.split(". ")[0] for text in passages]
    begin, answer = (" ".join(sentences[0].split()[:6]), " ".join(sentences[0].split()[-3:]))
    document = {"sentence": sentences[0], **({"sentence_2": sentences[1]} if len(sentences) > 1 else {})}
    key = "keywords" if '"keywords"' in prompt else "question"
    text = begin if key == "keywords" else f"What is said of this: {begin}?"
    return json.dumps({**document, key: text, "answer": answer})
