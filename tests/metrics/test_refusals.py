"""Which answers decline to answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragmeter.metrics.refusals import ends_not_knowing, is_miss, without_refusals
from ragmeter.metrics.refusals.tables import codes

DATA = Path(__file__).parents[1] / "data"

DECLINED = {
    "en": [
        "I don't know", "I don’t know.", "I do not know", "i dont know", "I dunno", "Don't know.",
        "Sorry, I don't know.", "I'm sorry, but I don't know the answer to that.", "Unfortunately I don't know",
        "I don't know who painted it.", "As an AI language model, I don't know.", "**I don't know.**",
        '"I don\'t know."',
        "I really don't know", "Well... I don't know", "I'm not sure.", "I am not sure what this is.", "I'm unsure.",
        "I have no idea.", "No idea", "I cannot determine the answer from the image.",
        "I don't have enough information to answer.", "There is not enough information.",
        "I do not know if this is a cat or a dog.",
        "I don't know, but you could check the website.", "I don't know, but I can help with something else.",
        "I DON'T KNOW", "I'm not able to answer this question.",
        "I do not have access to real-time information. However, you can check the website.",
    ],
    "es": [
        "No lo sé", "no lo se.", "No sé.", "no sé la respuesta", "Lo siento, no lo sé.", "No tengo ni idea",
        "No estoy seguro.", "No estoy segura", "Lo desconozco.", "No puedo responder a eso.",
        "No sé, pero puedes consultar la web.", "No sé quién es.", "No tengo suficiente información.",
    ],
    "fr": ["Je ne sais pas", "Désolé, je ne sais pas.", "je sais pas", "Je n'ai aucune idée.", "Je l'ignore.",
           "Je ne suis pas sûr.", "Malheureusement, je ne connais pas la réponse"],
    "de": ["Ich weiß es nicht.", "Ich weiß nicht, wer das gemalt hat.", "Das weiß ich leider nicht.", "Keine Ahnung",
           "Ich weiss nicht", "Ich bin mir nicht sicher.", "Tut mir leid, keine Ahnung."],
    "pt": ["Não sei.", "Desculpe, não sei a resposta.", "Não tenho certeza.", "Não faço ideia"],
    "it": ["Non lo so.", "Mi dispiace, non lo so", "Non ne ho idea", "Non sono sicuro."],
    "nl": ["Ik weet het niet.", "Geen idee", "Sorry, dat weet ik niet."],
    "ru": ["Я не знаю.", "Извините, я не знаю", "Понятия не имею", "Не знаю"],
    "tr": ["Bilmiyorum.", "Üzgünüm, bilmiyorum", "Emin değilim."],
    "ar": ["لا أعرف", "عذرا، لا أعلم", "ليس لدي أي فكرة"],
    "zh": ["我不知道。", "抱歉，我不知道", "我无法回答这个问题", "不清楚"],
    "ja": ["わかりません。", "申し訳ありませんが、わかりません。", "分かりません"],
    "ko": ["모르겠습니다.", "죄송합니다, 모르겠습니다.", "잘 모르겠어요"],
    "th": ["ไม่รู้", "ขอโทษครับ ผมไม่ทราบ", "ไม่แน่ใจ"],
    "pl": ["Nie wiem.", "Przepraszam, nie wiem", "Nie mam pojęcia"],
}  # fmt: skip

ANSWERED = [
    "I don't know if you knew, but it is Paris",
    "I don’t know if you knew but it's Paris.",
    "I don't know whether you know this: it is Paris.",
    "I don't know about you, but I would say Paris.",
    "The song is called I Don't Know by Ozzy Osbourne.",
    "I'm not sure, but I think it is Paris.",
    "As an AI language model, I do not have access to real-time information. However, the game is shown on ESPN.",
    "I don't know exactly, but it is around 1990.",
    "Paris",
    "Paris. I'm not sure, though.",
    "It's Paris, I'm sure.",
    "He said he did not know.",
    "Nobody knows.",
    "Noah", "No", "Idaho", "red", "not red", "Know-how",
    "I know it: Paris.",
    "No sé si sabías, pero es París.",
    "No estoy seguro, pero creo que es París.",
    "No se permite fumar aquí.",
    "No se llama Juan, se llama Pedro.",
    "Je ne sais pas si vous saviez, mais c'est Paris.",
    "Ich weiß nicht, ob du es wusstest, aber es ist Paris.",
    "Não sei se você sabia, mas é Paris.",
    "Non so se lo sapevi, ma è Parigi.",
    "Ik weet niet of je het wist, maar het is Parijs.",
    "Не знаю, знаете ли вы, но это Париж.",
    "我不知道你是否知道，但答案是巴黎",
]  # fmt: skip


#: What a hunt for gaps has found.
DECLINED_TOO = {
    "en": [
        "I'm sorry, but I can't help with that.",
        "I'm sorry, but I can't assist with that.",
        "I cannot provide that information.",
        "I'm unable to provide that.",
        "I was unable to find anything.",
        "I couldn't find relevant information.",
        "I could not find information about that.",
        "I don't have access to the internet.",
        "I don't have specific information on this.",
        "I don't have real-time information.",
        "I do not have an answer.",
        "The information is not available.",
        "Not enough information.",
        "There isn't enough information to answer.",
        "There is no mention of that.",
        "The context doesn't specify.",
        "The search results do not contain that.",
        "It is not possible to determine the year.",
        "It cannot be determined.",
        "Unable to determine.",
        "Cannot answer.",
        "Can't tell.",
        "Unknown.",
        "N/A",
        "idk",
        "No clue.",
        "I am afraid I don't know.",
        "I currently don't know.",
        "I truly don't know.",
        "I have absolutely no idea.",
        "> I don't know",
        "I'm not familiar with this.",
        "I don't recognize this object.",
        "I don't know, but it might help to check the manufacturer's website.",
        "I don't have that information, but the manufacturer's website should list it.",
    ],
    "es": [
        "No tengo acceso a esa información.",
        "No se puede determinar.",
        "La información no está disponible.",
        "No encontré información.",
        "Lo siento, no puedo ayudar con eso",
    ],
    "fr": [
        "Je ne dispose pas de cette information.",
        "Je n'en sais rien.",
        "Je n'ai pas accès à cela",
        "Il n'est pas possible de le déterminer.",
        "Je n'ai pas trouvé d'informations.",
        "je ne peux pas vous aider",
    ],
    "de": [
        "Leider kann ich das nicht sagen.",
        "Das kann ich nicht sagen.",
        "Das kann ich nicht beantworten.",
        "Das lässt sich nicht feststellen.",
        "Darüber liegen keine Informationen vor.",
    ],
    "pt": [
        "Não foi possível determinar.",
    ],
    "hi": [
        "मुझे नहीं पता",
    ],
}
ANSWERED_TOO = [
    "The car is red. I don't know the exact shade.",
    "It is a Ford Mustang. I don't have information about the exact year.",
    "It is a Monet, I can't say which one.",
    "It's a quokka, I didn't know that.",
    "La respuesta es 5, no sé el resto.",
    "I'm not sure, I think it's Paris.",
    "I'm not sure. It is probably a Toyota Camry.",
    "I don't know the exact number; it is about 500.",
    "I can't identify the exact model, it is a BMW 3 Series.",
    "I cannot determine the exact year. The car is a Ford Mustang.",
    "No estoy seguro, creo que es París.",
    "Je ne sais pas exactement, environ 500.",
    "Ich bin mir nicht sicher, ich glaube, es ist Paris.",
    "Ich weiß nicht genau, etwa 500.",
    "Não sei ao certo, cerca de 500.",
    "Non lo so di preciso, circa 500.",
    "Не знаю точно, около 500.",
    "我不知道确切的数字,大约500。",
    "The image does not contain a dog.",
    "There is no evidence that it is poisonous.",
    "There is no data cable in the box.",
    "The document does not include a signature.",
    "We do not have data; estimates say 8 billion.",
    "No se menciona en la Biblia; es una tradición.",
    "No idea is too small.",
    "不知道的人很多",
    "わからない単語は「犬」です。",
    "Don't Know Why by Norah Jones.",
    'Ozzy Osbourne, "I Don\'t Know"',
    "The song: I Don't Know by Ozzy Osbourne.",
    '"I Don\'t Know How to Love Him" is from a musical.',
    "Boh è una parola italiana.",
]


@pytest.mark.parametrize(
    ("language", "answer"),
    [(code, text) for table in (DECLINED, DECLINED_TOO) for code, texts in table.items() for text in texts],
)
def test_declined(language: str, answer: str) -> None:
    assert is_miss(answer)


@pytest.mark.parametrize("answer", [*ANSWERED, *ANSWERED_TOO])
def test_answered(answer: str) -> None:
    assert not is_miss(answer)


@pytest.mark.parametrize("answer", ["", "   ", "\n", '""'])
def test_an_empty_answer_declines(answer: str) -> None:
    assert is_miss(answer)


def test_every_language_of_the_table_is_tested() -> None:
    assert set(codes()) == {*DECLINED, *DECLINED_TOO}


def _mistakes(name: str) -> tuple[int, list[str]]:
    rows = [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
    return len(rows), [row["answer"] for row in rows if is_miss(row["answer"]) != row["declines"]]


def test_answers_that_were_written_without_sight_of_the_code() -> None:
    assert _mistakes("refusals.jsonl") == (200, [])


def test_answers_that_were_written_with_the_code() -> None:
    n, mistakes = _mistakes("refusals_more.jsonl")
    assert n == 357
    assert len(mistakes) <= 3, mistakes


@pytest.mark.parametrize(
    ("claim", "rest"),
    [
        ("I couldn't find the price, but the plan includes 3 users.", "the plan includes 3 users."),
        ("Die Größe ist 40 cm, aber zum Gewicht habe ich keine Angaben.", "Die Größe ist 40 cm"),
        ("The documents don't mention the price.", ""),
        ("No lo sé.", ""),
        ("The plan includes 3 users, but no storage.", "The plan includes 3 users, but no storage."),
        ("Paris", "Paris"),
    ],
)
def test_what_is_left_of_a_claim(claim: str, rest: str) -> None:
    assert without_refusals(claim) == rest


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The car is a Ford Mustang. I don't know its price.", True),
        ("It is a Ford, but I do not know more.", True),
        ("I don't know if you knew, but it is Paris.", False),
        ("I don't know. Let me think: it is Paris.", False),
        ("The car is red. I don't know the exact shade.", False),
        ("It is a Ford. The documents don't mention its price.", False),
        ("Paris", False),
    ],
)
def test_an_answer_that_ends_with_not_knowing(answer: str, expected: bool) -> None:
    assert not is_miss(answer)
    assert ends_not_knowing(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "However, I can tell you that Ann won, though I don't have access to live data.",
        'I cannot give the schedule of "Dancing on Ice." The show airs on ITV.',
        "As an AI I have no opinions, but to answer your question, it is Bonhomme.",
    ],
)
def test_what_an_assistant_goes_on_to_tell_is_an_answer(answer: str) -> None:
    assert not is_miss(answer)


@pytest.mark.parametrize(
    "text",
    ["I think, well, so, but, and, no, ", "I don't know if you knew but it is Paris. ", "\n", "-", "a,", "(", "[",
     "<", "</", "**", "_",
     "</think>", "</think", "<a ", "Answer: ", "The answer is ", "The answer to ", "Therefore ", "A: ", "- ", "1. ",
     "[1]", "'", '" ',
     "\\boxed{", "```\n", "based on the ", '"I don\'t know" is ', "答案是", "ответ на "],
)  # fmt: skip
def test_a_long_answer_is_read_in_linear_time(text: str) -> None:
    assert not is_miss("x" + text * (1_000_000 // len(text)) + "x")
