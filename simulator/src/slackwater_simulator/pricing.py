"""Serve the Price List Query API: products as JSON strings, terms and dimensions as maps with generated keys."""

from base64 import b32encode
from functools import cache
from hashlib import blake2b

from .prices import LOCATIONS, Row, rows
from .wire import AwsError, Call, Json, Reply, as_json, json_reply, page_of, page_size

PAGE = 100
_OFFER, _RATE = "JRTCKXETXF", "6YS6EN2CT7"
_ENDPOINTS = ("us-east-1", "eu-central-1", "ap-south-1")
_NAMES = {
    "AmazonEC2": "Amazon Elastic Compute Cloud",
    "AmazonEFS": "Amazon Elastic File System",
    "AmazonFSx": "Amazon FSx",
    "AmazonVPC": "Amazon Virtual Private Cloud",
}


def _code(name: str, length: int) -> str:
    return b32encode(blake2b(name.encode(), digest_size=20).digest()).decode()[:length]


@cache
def _catalogue() -> tuple[tuple[dict[str, str], str], ...]:
    """Return each product's attributes, for filters, and its record."""
    return tuple((_attributes(row), as_json(_record(row)).decode()) for row in rows())


def _attributes(row: Row) -> dict[str, str]:
    return {
        "servicecode": row.service,
        "servicename": _NAMES[row.service],
        "location": LOCATIONS[row.region],
        "locationType": "AWS Region",
        "regionCode": row.region,
        "usagetype": row.usage,
        "operation": row.operation,
        "productFamily": row.family,
        **row.attributes,
    }


def _record(row: Row) -> Json:
    attributes = _attributes(row)
    del attributes["productFamily"]
    sku = _code(repr(row), 16)
    term = f"{sku}.{_OFFER}"
    dimensions = {}
    for number, (begin, end, usd) in enumerate(row.tiers):
        rate = f"{term}.{_RATE if len(row.tiers) == 1 else _code(f'tier{number}', 10)}"
        dimensions[rate] = {
            "rateCode": rate,
            "unit": row.unit,
            "beginRange": begin,
            "endRange": end,
            "description": f"${usd} per {row.unit} ({row.usage})",
            "appliesTo": [],
            "pricePerUnit": {"USD": usd},
        }
    offer = {
        "sku": sku,
        "offerTermCode": _OFFER,
        "effectiveDate": "2026-09-01T00:00:00Z",
        "termAttributes": {},
        "priceDimensions": dimensions,
    }
    return {
        "product": {"productFamily": row.family, "sku": sku, "attributes": attributes},
        "serviceCode": row.service,
        "terms": {"OnDemand": {term: offer}},
        "version": "20260901000000",
        "publicationDate": "2026-09-01T00:00:00Z",
    }


def get_products(call: Call) -> Reply:
    """Return the products whose attributes pass every filter."""
    if call.region not in _ENDPOINTS:
        raise AwsError("UnrecognizedClientException", f"The Price List API has no endpoint in {call.region}.", 400)
    service, filters = call.input["ServiceCode"], call.input.get("Filters") or []
    found = [
        record
        for attributes, record in _catalogue()
        if attributes["servicecode"] == service and all(_passes(attributes, entry) for entry in filters)
    ]
    page = page_of(call, "PriceList", found, str, page_size(call, PAGE))
    return json_reply(call, {"FormatVersion": "aws_v1", **page})


def _passes(attributes: dict[str, str], entry: Json) -> bool:
    if entry.get("Type") not in ("TERM_MATCH", "EQUALS"):
        raise AwsError("InvalidParameterException", f"The simulator does not know the filter type {entry.get('Type')}")
    actual = attributes.get(entry["Field"])
    return actual is not None and actual.lower() == str(entry["Value"]).lower()
