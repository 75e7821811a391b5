"""AWS sessions and clients, error translation, paging and rate limits."""
