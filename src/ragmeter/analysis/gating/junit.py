"""A verdict as JUnit XML, which every CI system shows: one test case for each check."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

from ragmeter.analysis.gating.verdict import Verdict

#: What XML 1.0 has no way to write.
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(verdict: Verdict) -> bytes:
    """The document."""
    suite = Xml.Element("testsuite")
    counts = {"tests": len(verdict.checks), "failures": len(verdict.failed), "errors": 0, "skipped": 0, "time": 0}
    for name, value in {"name": _text(f"ragmeter gate {verdict.run}"), **counts}.items():
        suite.set(name, str(value))
    for check in verdict.checks:
        case = Xml.SubElement(suite, "testcase")
        for name, value in {"classname": f"ragmeter.{verdict.run}", "name": check.rule, "time": "0"}.items():
            case.set(name, _text(value))
        if check.passed:
            Xml.SubElement(case, "system-out").text = _text(check.reason)
        else:
            failure = Xml.SubElement(case, "failure", {"message": _text(check.reason), "type": check.kind})
            failure.text = _text(check.reason)
    suites = Xml.Element("testsuites")
    suites.append(suite)
    Xml.indent(suites)
    content: bytes = Xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _text(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)
