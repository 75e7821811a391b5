"""Sessions, clients, errors, pages and the rate limit."""
