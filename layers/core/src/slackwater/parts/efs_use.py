"""How CloudWatch shows that somebody uses an EFS file system, and that CloudWatch was watching it."""

from __future__ import annotations

from typing import Final

from slackwater.model.metrics import Metric

CLIENTS: Final = Metric("AWS/EFS", "ClientConnections", "Sum", "connection-minutes", optional=True)
METERED: Final = Metric("AWS/EFS", "MeteredIOBytes", "Sum", "bytes", optional=True)
"""All I/O, metadata too: reads count a third ("CloudWatch metrics for Amazon EFS", EFS User Guide)."""
WRITTEN: Final = Metric("AWS/EFS", "DataWriteIOBytes", "Sum", "bytes", optional=True)
METADATA_WRITTEN: Final = Metric("AWS/EFS", "MetadataWriteIOBytes", "Sum", "bytes", optional=True)
STORED: Final = Metric("AWS/EFS", "StorageBytes", "Average", "bytes", optional=True)
"""Published every 15 minutes, used or not: the witness that CloudWatch was watching."""
TOTAL: Final = ("StorageClass", "Total")
"""The dimension of `STORED` that counts every class."""
