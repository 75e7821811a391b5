"""Turns an inventory into ranked findings: registry, metrics plan, evaluation, deduplication, prices. Pure."""
