"""Estimates as documents."""
