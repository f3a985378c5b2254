"""A verdict as JUnit XML."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from hypothesis import given

from ragmeter.analysis.gating import Check, Verdict
from ragmeter.documents.metrics import MetricSummary
from ragmeter.show.junit import junit
from tests.wording.test_texts import HOSTILE


def verdict_of(text: str) -> Verdict:
    """A verdict with the same text in every place that data or a user can reach."""
    check = Check(text, "fail_under", text, False, text, 0.5, 0.4, None, None, 1)
    fine = Check("rule", "max_failed", "m", True, text, 0.5, 0.4, (0.1, 0.2), 0.95, 1)
    summary = MetricSummary(0.4, None, 0.4, 0.4, 0.4, None, "t", "higher", (0, 1), 3, 1, {text: 2})
    return Verdict(text, [check, fine], {text: summary}, [text])


@given(HOSTILE)
def test_junit_is_xml_whatever_the_texts(text: str) -> None:
    suites = Xml.fromstring(junit(verdict_of(text)))  # noqa: S314 - our own document
    suite = suites[0]
    expected = "".join(
        char
        if char in "\t\n\r" or (char >= " " and char not in "\ufffe\uffff" and not "\ud800" <= char <= "\udfff")
        else "\ufffd"
        for char in text
    )
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert suite.get("name") == f"ragmeter gate {expected}"
    failed, passed = suite
    assert failed.get("name") == expected
    failure = failed[0]
    assert (failure.tag, failure.get("message"), failure.get("type")) == ("failure", expected, "fail_under")
    assert len(failed) == len(passed) == 1
    assert (passed[0].tag, passed[0].text or "") == ("system-out", expected.replace("\r\n", "\n").replace("\r", "\n"))
