"""Stored findings, decisions about them, and the events that announce changes."""
