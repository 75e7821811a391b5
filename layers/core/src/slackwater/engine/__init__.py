"""From an inventory to ranked findings: registry, plan, docket, price, exempt, owner. Pure."""
