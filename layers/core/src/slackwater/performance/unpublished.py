"""Figures that AWS does not publish, or that Slackwater does not have. They are unknown, never 0."""


class UnpublishedError(ValueError):
    """There is no such figure; the message says which, and of what. A judgement that needs it is `Unknown`."""
