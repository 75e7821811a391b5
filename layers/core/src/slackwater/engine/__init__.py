"""From an inventory to ranked findings: registry, plan, docket, price, rank, exempt. Pure."""
