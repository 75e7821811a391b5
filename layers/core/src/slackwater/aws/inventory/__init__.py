"""Reads what an account holds."""
