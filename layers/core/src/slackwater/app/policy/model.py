"""The schema of a policy file, built from the detectors that exist."""

from collections.abc import Collection
from copy import copy
from functools import lru_cache
from typing import Annotated, Any, Final, get_args

from pydantic import AfterValidator, BaseModel, Field, create_model

from slackwater.app.policy.names import LIST_DETECTORS
from slackwater.app.policy.toml_lines import KeyPath
from slackwater.engine.registry import Registry
from slackwater.model.detector import Limits
from slackwater.model.money import (
    EBS_GP3_THROUGHPUT,
    EBS_SNAPSHOT_STORAGE,
    EFS_ARCHIVE_READ,
    EFS_ARCHIVE_TIERING,
    EFS_ELASTIC_READ,
    EFS_ELASTIC_WRITE,
    EFS_IA_READ,
    EFS_IA_TIERING,
    EFS_PROVISIONED_THROUGHPUT,
    VPC_ENDPOINT_GIB,
    VPC_ENDPOINT_HOUR,
)
from slackwater.model.nearest import did_you_mean, unknown
from slackwater.model.policy import (
    ApiSection,
    CleanupSection,
    ExemptSection,
    OrganizationSection,
    OwnersSection,
    PricesSection,
    ScanSection,
    Section,
    SlackRoute,
    SlackSection,
)
from slackwater.model.price_queries import (
    CREDIT_FAMILIES,
    EFS_USAGE,
    FSX_DEPLOYMENT,
    IOPS_USAGE,
    VOLUME_USAGE,
    query_for,
)
from slackwater.model.resources import EfsFileSystem, FsxFileSystem, Volume
from slackwater.model.services import CALLS_PER_SECOND, IAM_PREFIXES

REMOVABLE: Final = frozenset(kind.KIND for kind in (Volume, EfsFileSystem, FsxFileSystem))
"""Kinds of resources that some detector recommends to delete, and that Slackwater may delete."""

PRICE_ITEMS: Final = (
    *(f"ebs.{volume_type}.storage" for volume_type in VOLUME_USAGE),
    *(f"ebs.{rest}" for rest in IOPS_USAGE),
    *(f"efs.{rest}" for rest in EFS_USAGE),
    *(f"fsx.{deployment}.{what}" for deployment in FSX_DEPLOYMENT for what in ("storage", "throughput", "iops")),
    *(item.id for item in (EBS_GP3_THROUGHPUT, EBS_SNAPSHOT_STORAGE, EFS_PROVISIONED_THROUGHPUT)),
    *(item.id for item in (EFS_ELASTIC_READ, EFS_ELASTIC_WRITE, EFS_IA_READ, EFS_IA_TIERING)),
    *(item.id for item in (EFS_ARCHIVE_READ, EFS_ARCHIVE_TIERING)),
    *(item.id for item in (VPC_ENDPOINT_HOUR, VPC_ENDPOINT_GIB)),
    *(f"ec2.{family}.cpu-credits" for family in CREDIT_FAMILIES),
    "ec2.<instance type>.hour",
)
"""Names to suggest in messages. A policy may name any item that has a query for the price list."""


def _known_item(item_id: str) -> str:
    if query_for(item_id) is None:
        raise ValueError(
            f"no such price item; {did_you_mean(item_id, PRICE_ITEMS, 'the price_basis of a finding in JSON')}"
        )
    return item_id


def _known_service(name: str) -> str:
    if name not in CALLS_PER_SECOND:
        # Botocore's name of a service may look more like another service's IAM prefix: efs looks like fsx.
        raise ValueError(f"no such service; {did_you_mean(IAM_PREFIXES.get(name, name), CALLS_PER_SECOND, '')}")
    return name


_SERVICES: Final[dict[str, Any]] = {"enum": sorted(CALLS_PER_SECOND)}


class CheckedScan(ScanSection):
    """Where to look, what is worth saying, and how much may be asked."""

    calls_per_second: dict[
        Annotated[str, AfterValidator(_known_service), Field(json_schema_extra=_SERVICES)],
        Annotated[float, Field(gt=0)],
    ] = Field(default={}, description=ScanSection.model_fields["calls_per_second"].description)


class CheckedPrices(PricesSection):
    """What you really pay."""

    overrides: dict[str, dict[Annotated[str, AfterValidator(_known_item)], Annotated[float, Field(ge=0)]]] = Field(
        default={}, description=PricesSection.model_fields["overrides"].description
    )


SECTIONS: Final[dict[str, type[Section]]] = {
    "scan": ScanSection,
    "exempt": ExemptSection,
    "prices": PricesSection,
    "owners": OwnersSection,
    "organization": OrganizationSection,
    "slack": SlackSection,
    "api": ApiSection,
    "cleanup": CleanupSection,
}


def policy_model(registry: Registry) -> Any:
    """Return a pydantic model with SECTIONS and `detectors`, which has a section for each detector: its limits and
    `enabled`.
    """
    return _policy_model(tuple((id_, detector.title, detector.limits) for id_, detector in registry.items()))


@lru_cache(maxsize=8)
def _policy_model(limits: tuple[tuple[str, str, type[Limits]], ...]) -> Any:
    """Build the model for these detectors. Cached, because building it takes longer than validating a policy."""
    detectors = {
        id_: create_model(
            id_,
            __base__=base,
            __doc__=f"{title}.",
            enabled=(bool, Field(default=True, description="Whether scans run this detector.")),
        )
        for id_, title, base in limits
    }
    of_detectors = create_model(
        "detectors", __base__=Section, __doc__="One section a detector.", **_with_defaults(detectors)
    )
    detector = _one_of("detector", detectors, LIST_DETECTORS)
    route = _narrowed(SlackRoute, detector=detector | None)
    checked = {
        "scan": CheckedScan,
        "prices": CheckedPrices,
        "slack": _narrowed(SlackSection, routes=list[route]),  # type: ignore[valid-type]  # made at run time
        "cleanup": _narrowed(
            CleanupSection,
            resource_types=list[_one_of("removable kind", REMOVABLE, "")],  # type: ignore[misc]
            detectors=list[detector],  # type: ignore[valid-type]
        ),
    }
    return create_model(
        "Slackwater policy",
        __base__=Section,
        __doc__="What operators may change. Everything has a default.",
        **_with_defaults({**SECTIONS, **checked, "detectors": of_detectors}),
    )


def _one_of(noun: str, names: Collection[str], listed_by: str) -> Any:
    """Return the type of a text that must be one of `names`. The JSON Schema lists them for editors."""

    def known(name: str) -> str:
        if problems := unknown(noun, [name], names, listed_by):
            raise ValueError(*problems)
        return name

    for_editors: dict[str, Any] = {"enum": sorted(names)}
    return Annotated[str, AfterValidator(known), Field(json_schema_extra=for_editors)]


def _narrowed(section: type[Section], **types: Any) -> Any:
    """Return the same section with stricter types for some keys."""
    fields: dict[str, Any] = {key: (type_, copy(section.model_fields[key])) for key, type_ in types.items()}
    return create_model(section.__name__, __base__=section, __doc__=section.__doc__, **fields)


def _with_defaults(models: dict[str, type[Any]]) -> dict[str, Any]:
    return {name: (model, Field(default_factory=model)) for name, model in models.items()}


def section_at(model: type[BaseModel], where: KeyPath) -> type[BaseModel]:
    """Return the model of a section, by its path.

    Raises:
        LookupError, AttributeError: There is no section: the path leads into a list of texts, or a table with the
        user's own keys.
    """
    found: Any = model
    for key in where:
        found = get_args(found)[0] if isinstance(key, int) else found.model_fields[key].annotation
    return found  # type: ignore[no-any-return]  # an annotation may be any type
