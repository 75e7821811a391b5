"""Slackwater: AWS storage that stands still, and machines whose burst has run dry."""
