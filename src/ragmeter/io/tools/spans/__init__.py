"""Traces of OpenInference and of OpenTelemetry's conventions for generative AI: a row for each question."""
