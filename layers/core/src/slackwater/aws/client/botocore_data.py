"""Loads botocore's data, such as service models, without the documentation. That halves EC2's model in memory.

It also marks GetMetricData's queries as JSON documents, so that botocore copies them into the request as they are.
"""

import gzip
import json
from pathlib import Path
from typing import Any, Final

from botocore.loaders import JSONFileLoader, Loader, create_loader

METRIC_QUERY: Final = "MetricDataQuery"
"""The shape of a query. A call has 500, and serializing them field by field takes four times as long as copying."""


class LeanFileLoader(JSONFileLoader):
    """Reads a data file as botocore does, but with an empty `documentation`, and as plain dictionaries."""

    def load_file(self, file_path: str) -> Any:
        """Return the content of a file, which is named without its ending; None if it does not exist."""
        plain, packed = Path(f"{file_path}.json"), Path(f"{file_path}.json.gz")
        if plain.is_file():
            data = plain.read_bytes()
        elif packed.is_file():
            data = gzip.decompress(packed.read_bytes())
        else:
            return None
        model = json.loads(data, object_hook=_without_documentation)
        if isinstance(model, dict) and METRIC_QUERY in model.get("shapes", ()):
            model["shapes"][METRIC_QUERY]["document"] = True
        return model


def _without_documentation(found: dict[str, Any]) -> dict[str, Any]:
    if isinstance(found.get("documentation"), str):  # a member of a shape may have this name, too
        found["documentation"] = ""  # botocore expects it in some places
    return found


def lean_loader(data_path: str | None) -> Loader:
    """Return a loader like botocore's, for its own data and these additional search paths (as in `AWS_DATA_PATH`)."""
    loader = create_loader(data_path)
    loader.file_loader = LeanFileLoader()
    return loader
