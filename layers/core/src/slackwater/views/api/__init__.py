"""Findings and audits as the API, the events and the command line return them."""
