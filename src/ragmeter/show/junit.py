"""A gate's verdict as JUnit XML, with a test case for each check."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from ragmeter.analysis.gating.checks import Verdict
from ragmeter.wording.texts import in_xml


def junit(verdict: Verdict) -> bytes:
    """The XML document."""
    suite = Xml.Element("testsuite")
    counts = {"tests": len(verdict.checks), "failures": len(verdict.failed), "errors": 0, "skipped": 0, "time": 0}
    for name, value in {"name": in_xml(f"ragmeter gate {verdict.run}"), **counts}.items():
        suite.set(name, str(value))
    for check in verdict.checks:
        case = Xml.SubElement(suite, "testcase")
        for name, value in {"classname": f"ragmeter.{verdict.run}", "name": check.rule, "time": "0"}.items():
            case.set(name, in_xml(value))
        if check.passed:
            Xml.SubElement(case, "system-out").text = in_xml(check.reason)
        else:
            failure = Xml.SubElement(case, "failure", {"message": in_xml(check.reason), "type": check.kind})
            failure.text = in_xml(check.reason)
    suites = Xml.Element("testsuites")
    suites.append(suite)
    Xml.indent(suites)
    content: bytes = Xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return content + b"\n"
