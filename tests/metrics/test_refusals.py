"""Which answers decline to answer."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ragmeter.metrics import refusals
from ragmeter.metrics.refusals import is_miss

DECLINED = {
    "en": [
        "I don't know", "I don’t know.", "I do not know", "i dont know", "I dunno", "Don't know.",
        "Sorry, I don't know.", "I'm sorry, but I don't know the answer to that.", "Unfortunately I don't know",
        "I don't know who painted it.", "As an AI language model, I don't know.", "**I don't know.**",
        '"I don\'t know."',
        "I really don't know", "Well... I don't know", "I'm not sure.", "I am not sure what this is.", "I'm unsure.",
        "I have no idea.", "No idea", "I cannot determine the answer from the image.",
        "I don't have enough information to answer.", "There is not enough information.",
        "The car is a Ford Mustang. I don't know its price.", "I do not know if this is a cat or a dog.",
        "I don't know, but you could check the website.", "I don't know, but I can help with something else.",
        "I DON'T KNOW", "I'm not able to answer this question.", "The image does not show it, so I don't know.",
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


@pytest.mark.parametrize(("language", "answer"), [(code, each) for code, held in DECLINED.items() for each in held])
def test_declined(language: str, answer: str) -> None:
    assert is_miss(answer)


@pytest.mark.parametrize("answer", ANSWERED)
def test_answered(answer: str) -> None:
    assert not is_miss(answer)


@pytest.mark.parametrize("answer", ["", "   ", "\n", '""'])
def test_an_empty_answer_declines(answer: str) -> None:
    assert is_miss(answer)


def test_every_language_of_the_table_is_tested() -> None:
    table = tomllib.loads(Path(refusals.__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    assert set(table) == set(DECLINED)


def test_a_long_answer_takes_no_time() -> None:
    assert not is_miss("I think, well, so, but, and, no, " * 2_000 + "Paris")
    assert not is_miss("I don't know if you knew but it is Paris, " * 2_000)
