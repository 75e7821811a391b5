"""What a policy file may hold, made from the detectors there are."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, Field, create_model

from slackwater.aws.price_queries import CREDIT_FAMILIES, EFS_USAGE, FSX_DEPLOYMENT, IOPS_USAGE, VOLUME_USAGE, query_for
from slackwater.engine.registry import Registry
from slackwater.model.money import (
    EBS_GP3_THROUGHPUT,
    EBS_SNAPSHOT_STORAGE,
    EFS_ELASTIC_READ,
    EFS_ELASTIC_WRITE,
    EFS_IA_READ,
    EFS_IA_TIERING,
    EFS_PROVISIONED_THROUGHPUT,
    VPC_ENDPOINT_GIB,
    VPC_ENDPOINT_HOUR,
)
from slackwater.model.nearest import did_you_mean
from slackwater.model.policy import (
    CleanupSection,
    ExemptSection,
    OwnersSection,
    PricesSection,
    ScanSection,
    Section,
    SlackSection,
)

PRICE_ITEMS: Final = (
    *(f"ebs.{volume_type}.storage" for volume_type in VOLUME_USAGE),
    *(f"ebs.{rest}" for rest in IOPS_USAGE),
    *(f"efs.{rest}" for rest in EFS_USAGE),
    *(f"fsx.{deployment}.{what}" for deployment in FSX_DEPLOYMENT for what in ("storage", "throughput", "iops")),
    *(item.id for item in (EBS_GP3_THROUGHPUT, EBS_SNAPSHOT_STORAGE, EFS_PROVISIONED_THROUGHPUT)),
    *(item.id for item in (EFS_ELASTIC_READ, EFS_ELASTIC_WRITE, EFS_IA_READ, EFS_IA_TIERING)),
    *(item.id for item in (VPC_ENDPOINT_HOUR, VPC_ENDPOINT_GIB)),
    *(f"ec2.{family}.cpu-credits" for family in CREDIT_FAMILIES),
    "ec2.<instance type>.hour",
)
"""Names to suggest. What may be named is what the price list can be asked for."""


def _known_item(item_id: str) -> str:
    if query_for(item_id) is None:
        raise ValueError(f"no such price item; {did_you_mean(item_id, PRICE_ITEMS, 'the price_basis of a finding in JSON')}")
    return item_id


class CheckedPrices(PricesSection):
    """What you really pay."""

    overrides: dict[str, dict[Annotated[str, AfterValidator(_known_item)], Annotated[float, Field(ge=0)]]] = Field(
        default={}, description=PricesSection.model_fields["overrides"].description
    )


SECTIONS: Final[dict[str, type[Section]]] = {
    "scan": ScanSection,
    "exempt": ExemptSection,
    "prices": CheckedPrices,
    "owners": OwnersSection,
    "slack": SlackSection,
    "cleanup": CleanupSection,
}


def policy_model(registry: Registry) -> Any:
    """A pydantic model with SECTIONS and `detectors`, where each detector has a section: its limits, and `enabled`."""
    detectors = {
        id_: create_model(
            id_,
            __base__=detector.limits,
            __doc__=f"{detector.title}.",
            enabled=(bool, Field(default=True, description="Whether scans ask this question.")),
        )
        for id_, detector in registry.items()
    }
    of_detectors = create_model("detectors", __base__=Section, __doc__="One section a detector.", **_with_defaults(detectors))
    return create_model(
        "Slackwater policy",
        __base__=Section,
        __doc__="What operators may change. Everything has a default.",
        **_with_defaults({**SECTIONS, "detectors": of_detectors}),
    )


def _with_defaults(models: dict[str, type[Any]]) -> dict[str, Any]:
    return {name: (model, Field(default_factory=model)) for name, model in models.items()}


def section_at(model: type[BaseModel], where: tuple[str, ...]) -> type[BaseModel]:
    """The model of a section, by its path.

    Raises:
        KeyError, AttributeError: there is no section; the path leads into a list or a table of the user's own keys.
    """
    for key in where:
        model = model.model_fields[key].annotation  # type: ignore[assignment]  # an annotation may be any type
    return model
