"""Adapters to AWS, one technology each. Every module lists the IAM actions it uses in `ACTIONS`."""
