"""Adapters to AWS. A module lists the IAM actions that it uses in `ACTIONS`."""
