"""Keys are taken out of texts, in every form in which a server may write them."""

from __future__ import annotations

import json
import time
import tracemalloc
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.effects.keys.headers import Secret, read_headers
from ragmeter.effects.keys.redaction import Cleaner
from ragmeter.errors import UsageError
from tests.hostile.key_forms import FORMS, KEY

CLEAN = Cleaner([KEY, f"Bearer {KEY}"])


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_key(form: str) -> None:
    written = FORMS[form](KEY)
    cleaned = CLEAN(f"caf\u00e9 %41 &amp; \\n said {written}, twice: {written}!")
    assert written not in cleaned
    assert "***" in cleaned
    for kept in ("caf\u00e9 %41 &amp; \\n said ", ", twice: ", "!"):
        assert kept in cleaned


@pytest.mark.parametrize("key", ["cl\u00e9-s3cr3t", "key\u2019s-\u20ac-0123", "\u5bc6\u7801" * 4])
@pytest.mark.parametrize("misread", ["utf-8", "latin-1", "cp1252", "ascii"])
def test_a_key_with_other_letters_that_a_server_reads_in_its_own_way(key: str, misread: str) -> None:
    written = key.encode().decode(misread, "replace")
    for form in (written, json.dumps(written), json.dumps(json.dumps(written)), quote(written), ascii(written)):
        cleaned = Cleaner([key])(f"caf\u00e9, oops {form}!")
        assert "***" in cleaned
        assert form not in cleaned
        assert written not in cleaned
        assert cleaned.startswith("caf\u00e9, oops ")


@pytest.mark.parametrize("form", FORMS)
def test_a_document_stays_a_document(form: str) -> None:
    raw = json.dumps({"a": f'"{FORMS[form](KEY)}"', "b": 'c"d\\e'})
    document = json.loads(CLEAN(raw))
    assert document["b"] == 'c"d\\e'
    assert document["a"].startswith('"')
    assert document["a"].endswith('"')
    assert "***" in document["a"]


@pytest.mark.parametrize("text", ["", "nothing", "100%", "R&D", "\\", "%zz &; \\u12", "a\\" * 50, "&#xFFFFFFFFFF;"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert CLEAN(text) == text
    assert Cleaner([])(text) == text


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_is_no_secret_stays(before: str, after: str) -> None:
    assert CLEAN(before) == before
    cleaned = CLEAN(f"{before} \\u0073{KEY[1:]} {after}")
    assert cleaned == f"{before} *** {after}" or KEY in before + after


@pytest.mark.parametrize("unit", ["\\", "%", "&", "%25", "&amp;", "\\u0073", "s", KEY[:-1], "&amp;#115;", "%73\\"])
def test_time_grows_with_the_text_and_not_faster(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit)) + FORMS["\\u"](KEY)
        begun = time.process_time()
        assert CLEAN(text).endswith("***")
        return time.process_time() - begun

    small = min(seconds(20_000) for _ in range(3))
    assert seconds(320_000) < 16 * 8 * max(small, 0.002)  # quadratic would be 16 times more than linear


@pytest.mark.parametrize("unit", ["plain ", "%20", "\\u0073", "&amp;lt; ", "%c3%a9", "\\"])
def test_memory_is_a_few_times_that_of_the_text(unit: str) -> None:
    text = unit * (500_000 // len(unit)) + FORMS["percent"](KEY)
    tracemalloc.start()
    try:
        assert CLEAN(text).endswith("***")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 30 * len(text)


def test_what_stands_beside_an_escaped_key_stays() -> None:
    assert CLEAN("%20" + FORMS["percent everywhere"](KEY) + "%C3%A9") == "%20***%C3%A9"


@pytest.mark.parametrize(
    ("header", "hidden"),
    [
        ("Bearer 0123456789", "0123456789"),
        ("bearer   0123456789", "0123456789"),
        ("Token 0123456789", "0123456789"),
        ("Basic dXNlcjpwYXNzd29yZC0x", "password-1"),
        ("Basic dXNlcjpwYXNzd29yZC0x", "user:password-1"),
        ("0123456789", "0123456789"),
        ("Basic dXNlcjpodW50ZXIy", "hunter2"),
        ("s3cret", "s3cret"),
    ],
)
def test_what_is_secret_in_a_header(header: str, hidden: str) -> None:
    assert hidden in read_headers([f"Authorization: {header}"])["Authorization"].pieces()


@pytest.mark.parametrize("line", ["Authorization Bearer SECRET", "Authorization=Bearer SECRET: x", "SECRET SECRET:x"])
def test_a_header_in_a_wrong_form_is_not_repeated(line: str) -> None:
    with pytest.raises(UsageError, match="'Name: value'") as caught:
        read_headers([line])
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("header", ["Basic ***", "Basic", "Basic gICA", "Bearer", "none", "answer", "a1", ""])
def test_headers_that_hold_less(header: str) -> None:
    assert all(len(piece) >= 8 for piece in Secret(header).pieces())
