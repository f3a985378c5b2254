"""Which answers decline to answer behind a lead-in, in brackets, quotation marks, Markdown and tags."""

from __future__ import annotations

import gzip
import json

import pytest

from ragmeter.metrics.refusals import is_miss
from ragmeter.metrics.refusals.tables import codes
from tests.conftest import DATA

#: By language: a refusal, lead-ins that may stand before it, and a false friend.
LEAD_INS = {
    "en": (
        "I don't know.",
        [
            "Answer:", "The answer is", "The answer is that", "Final answer:", "The final answer is:", "My answer:",
            "A:",
            "Short answer:", "Therefore", "Therefore,", "Thus,", "Hence", "So", "In conclusion,", "Assistant:",
            "Response:",
            "**Answer:**", "**Answer**:", "[Answer]", "(Answer)", "Answer -", "Answer =", "Answer\n", "### Answer\n\n",
            "So, in conclusion, my final answer is:", "Answer: Well, sorry, but unfortunately", "Q: Who painted it? A:",
            "Question: Who painted it?\nAnswer:", "The answer to your question is", "I have to admit that",
            "Based on the documents that I was given,", "The picture is blurred.\n\n- Final answer:",
        ],
        "I don't know if you knew, but it is Paris",
    ),
    "es": (
        "No lo sé.",
        ["Respuesta:", "La respuesta es", "La respuesta es que", "Respuesta final:", "Por lo tanto,", "Por tanto",
         "Así que",
         "R:", "Mi respuesta final es:", "En resumen,"],
        "No sé si sabías, pero es París.",
    ),
    "fr": (
        "Je ne sais pas.",
        ["Réponse :", "Réponse:", "La réponse est", "La réponse est que", "Réponse finale :", "Donc",
         "Par conséquent,", "R :"],
        "Je ne sais pas si vous saviez, mais c'est Paris.",
    ),
    "de": (
        "Ich weiß es nicht.",
        ["Antwort:", "Die Antwort lautet:", "Die Antwort ist:", "Endgültige Antwort:", "Fazit:", "Also,",
         "Zusammenfassend:"],
        "Ich weiß nicht, ob du es wusstest, aber es ist Paris.",
    ),
    "pt": (
        "Não sei.",
        ["Resposta:", "A resposta é", "A resposta é que", "Resposta final:", "Portanto,", "Logo,", "R:"],
        "Não sei se você sabia, mas é Paris.",
    ),
    "it": (
        "Non lo so.",
        ["Risposta:", "La risposta è", "La risposta è che", "Risposta finale:", "Quindi", "Pertanto,", "R:"],
        "Non so se lo sapevi, ma è Parigi.",
    ),
    "nl": (
        "Ik weet het niet.",
        ["Antwoord:", "Het antwoord is", "Mijn antwoord is:", "Definitief antwoord:", "Dus,", "Kortom:"],
        "Ik weet niet of je het wist, maar het is Parijs.",
    ),
    "ru": (
        "Я не знаю.",
        ["Ответ:", "Мой ответ —", "Ответ на вопрос:", "Окончательный ответ:", "Поэтому", "Следовательно,",
         "Таким образом,"],
        "Не знаю, знаете ли вы, но это Париж.",
    ),
    "tr": (
        "Bilmiyorum.",
        ["Cevap:", "Yanıt:", "Cevabım şu:", "Nihai cevap:", "Son cevap:", "Bu nedenle", "Dolayısıyla,"],
        "Bilmiyorum ama Paris olabilir.",
    ),
    "ar": (
        "لا أعرف.",
        ["الإجابة:", "الجواب:", "الإجابة هي", "الإجابة النهائية:", "لذلك", "إذن،"],
        "لا أعرف إن كنت تعلم، لكن الجواب باريس",
    ),
    "zh": (
        "我不知道。",
        ["答案：", "答：", "答案是", "我的答案是：", "最终答案：", "因此，", "所以", "综上所述，"],
        "我不知道你是否知道，但答案是巴黎",
    ),
    "ja": (
        "わかりません。",
        ["回答：", "答え：", "答えは", "私の回答は、", "最終回答：", "したがって、", "よって"],
        "わかりませんが、おそらくパリです。",
    ),
    "ko": (
        "모르겠습니다.",
        ["답변:", "답:", "답은", "제 답변은", "최종 답변:", "따라서", "그러므로,"],
        "모르겠습니다. 하지만 파리인 것 같습니다.",
    ),
    "th": (
        "ไม่ทราบ",
        ["คำตอบ:", "คำตอบคือ", "คำตอบสุดท้าย:", "ดังนั้น", "เพราะฉะนั้น "],
        "ไม่ทราบแน่ชัด ประมาณ 500",
    ),
    "pl": (
        "Nie wiem.",
        ["Odpowiedź:", "Odpowiedź to", "Odpowiedź brzmi:", "Ostateczna odpowiedź:", "Dlatego", "Więc", "Zatem"],
        "Nie wiem, czy wiesz, ale to jest Paryż.",
    ),
    "hi": (
        "मुझे नहीं पता।",
        ["उत्तर:", "जवाब:", "उत्तर है", "अंतिम उत्तर:", "इसलिए"],
        "मुझे नहीं पता, लेकिन शायद पेरिस।",
    ),
}  # fmt: skip
#: What an answer may be wrapped in.
WRAPPINGS = [
    "({})", "[{}]", "{{{}}}", "- {}", "* {}", "+ {}", "• {}", "– {}", "1. {}", "1) {}", "(1) {}", "a) {}", "> {}",
    "# {}", "| {} |",
    '"{}"', "'{}'", "“{}”", "«{}»", "`{}`", "**{}**", "*{}*", "__{}__", "_{}_", "- **{}**", "```\n{}\n```",
    "```text\n{}\n```",
    "（{}）", "「{}」", "【{}】", "...{}", "🤷 {}", "((({})))",
    "<answer>{}</answer>", "<answer>\n  {}\n</answer>", "<response><answer>{}</answer></response>", "<b>{}</b>",
    '<p class="x">{}</p>', "<|assistant|>{}<|end|>", '{{"answer": "{}"}}', '{{"answer": "{}", "sources": []}}',
    "\\boxed{{{}}}", "$\\boxed{{\\text{{{}}}}}$", "{} [1][2]", "{} [^3]", "Answer: {}", "Final answer: ({})",
    "<answer>Answer: {}</answer>",
    "<think>It is Paris, or perhaps Lyon.</think>{}", "It is Paris, or perhaps Lyon.\n</think>\n\n{}",
]  # fmt: skip
#: What else was found when lead-ins, brackets and markup came in.
DECLINED_BEHIND = [
    "Final answer: I'm not sure.",
    "The picture is old and blurred. Final answer: I'm not sure.",
    'The answer is: "I don\'t know".',
    'The answer is "I don\'t know."',
    '(I couldn\'t find any information about the show "Kevin (Probably) Saves the World".)',
    "I don't know.\nFinal answer: I don't know.",
    "1. I don't know the name.\n2. I don't know the price.",
    "Answer: N/A", "Answer: Unknown.", "(unknown)", '"Unknown"', "[N/A]", "<answer>N/A</answer>",
    "The answer is unknown.", "The answer to who painted it is unknown.",
    "The documents do not contain this information [2].",
    "¡No lo sé!", "Final answer: 我不知道", "Answer: no lo sé", "Die Antwort ist, dass ich es nicht weiß.",
    "Die Antwort kenne ich nicht.", "Daher weiß ich es nicht.", "<answer></answer>", "```\n```",
]  # fmt: skip
ANSWERED_BEHIND = [
    '"I Don\'t Know" is a song by Ozzy Osbourne.',
    "*I Don't Know* was a hit.",
    "**I Don't Know** is a song by Ozzy Osbourne.",
    "<i>I Don't Know</i> by Ozzy Osbourne",
    "The song <i>I Don't Know</i> is by Ozzy Osbourne.",
    'The answer is "I Don\'t Know" by Ozzy Osbourne.',
    "The answer is I Don't Know by Ozzy Osbourne.",
    "- 'I Don't Know Why' by Norah Jones",
    '"I don\'t know", she said, and left.',
    '"Unknown" is a film with Liam Neeson.',
    "Unknown (2011 film)",
    "Answer: I'm not sure. It is probably a Toyota Camry.",
    "Answer: I don't know exactly, about 500",
    "Thought: I don't know this one.\nAnswer: Paris",
    "I don't know it at first sight. Final answer: Monet",
    "<think>I don't know the capital. Let me think.</think>Paris",
    "A) Paris\nB) I don't know\nAnswer: A",
    "New commands:\n- image-obsolete\nRemoved commands:\n- N/A",
    "Answer: No", "The answer is no.", "A: Idaho", "Answer: not red", "(No Doubt)", "Final answer: 42", "-", ")", "...",
]  # fmt: skip


@pytest.mark.parametrize("language", LEAD_INS)
def test_lead_ins(language: str) -> None:
    declined, lead_ins, false_friend = LEAD_INS[language]
    assert [lead_in for lead_in in lead_ins if not is_miss(f"{lead_in} {declined}")] == []
    assert [lead_in for lead_in in lead_ins if not is_miss(f"({lead_in} {declined})")] == []
    assert not is_miss(false_friend)
    assert [lead_in for lead_in in lead_ins if is_miss(f"{lead_in} {false_friend}")] == []
    assert [lead_in for lead_in in lead_ins if is_miss(f"{lead_in} Paris")] == []


@pytest.mark.parametrize("language", LEAD_INS)
def test_brackets_and_markup(language: str) -> None:
    declined, _, false_friend = LEAD_INS[language]
    for text in (declined, declined.strip(".。।")):
        assert [wrapping for wrapping in WRAPPINGS if not is_miss(wrapping.format(text))] == []
    for text in (false_friend, "Paris"):
        assert [wrapping for wrapping in WRAPPINGS if is_miss(wrapping.format(text))] == []


@pytest.mark.parametrize("answer", DECLINED_BEHIND)
def test_declined_behind_other_words(answer: str) -> None:
    assert is_miss(answer)


@pytest.mark.parametrize("answer", ANSWERED_BEHIND)
def test_answered_behind_other_words(answer: str) -> None:
    assert not is_miss(answer)


@pytest.mark.parametrize(
    "wrapping", ["{}", "Answer: {}", "The answer is {}", "({})", "- {}", "<answer>{}</answer>", "Therefore, {}"]
)
def test_what_people_call_right_is_no_miss(wrapping: str) -> None:
    with gzip.open(DATA / "evouna_people.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    missed = [row for row in rows if is_miss(wrapping.format(row["answer"]))]
    assert 1 <= len(missed) <= 12
    assert not any(row["correct"] for row in missed)


def test_lead_ins_are_tested_in_every_language_of_the_table() -> None:
    assert set(codes()) == set(LEAD_INS)
