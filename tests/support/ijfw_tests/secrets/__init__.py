"""Labelled cases for redaction, generated: no value was ever issued."""
