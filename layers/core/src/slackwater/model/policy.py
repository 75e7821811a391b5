"""The sections of the policy file, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from slackwater.model.detector import Limits
from slackwater.model.policy_version import DEFAULTS, PolicyVersion


class Section(BaseModel):
    """A section of the policy file. Unknown keys and wrong types are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


ACCOUNT: Final = r"^\d{12}$"
UNIT: Final = r"^(r-[0-9a-z]{4,32}|ou-[0-9a-z]{4,32}-[0-9a-z]{8,32})$"


class ScanSection(Section):
    """Where to scan, what to report, and how much to ask of AWS."""

    regions: list[str] = Field(default=[], description="Regions to scan when the command line names none.")
    minimum_monthly_savings_usd: float = Field(
        default=1, ge=0, description="Waste that would save less than this, in USD a month, is counted but not listed."
    )
    most_metrics_usd: float = Field(
        default=25,
        gt=0,
        description=(
            "The most that the metrics of an audit may cost, in USD, at 0.01 USD for 1,000. Slackwater skips requests "
            "that would exceed it, and the audit is incomplete. 200,000 resources take about 7 USD. Half of it is kept "
            "for the accounts of an organization, in equal shares."
        ),
    )
    most_metrics_usd_per_day: float = Field(
        default=50,
        gt=0,
        description=(
            "The most that the metrics of all audits of a day (UTC) may cost, in USD. Above it, no metric is requested "
            "and no audit starts. Scans on the command line do not count."
        ),
    )
    most_running_audits: int = Field(
        default=3, ge=1, le=100, description="How many audits the service runs at the same time. It refuses one more."
    )
    calls_per_second: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default={},
        description=(
            "How often a service may be asked in one account and region, by its name in IAM, such as elasticfilesystem "
            "= 5; scans at the same time share it. The others keep their own rates."
        ),
    )
    datapoints_per_second: float = Field(
        default=300_000,
        gt=0,
        description="How many points of metrics may be asked for in one account and region; CloudWatch allows 396,000.",
    )


class OrganizationSection(Section):
    """The accounts of an organization to audit. If it names none, only the account that Slackwater runs in."""

    organizational_units: list[Annotated[str, Field(pattern=UNIT, examples=["ou-ab12-34cd56ef"])]] = Field(
        default=[], description="Ids of organizational units, or of the root for all, with every account below them."
    )
    accounts: list[Annotated[str, Field(pattern=ACCOUNT, examples=["123456789012"])]] = Field(
        default=[], description="Accounts by their ids, beside those of the organizational units."
    )
    tags: dict[str, str] = Field(
        default={}, description="Of the accounts in organizational units, only those with all these tags."
    )
    except_accounts: list[Annotated[str, Field(pattern=ACCOUNT, examples=["123456789012"])]] = Field(
        default=[], description="Accounts to leave out, even if they are named elsewhere."
    )

    @model_validator(mode="after")
    def _narrows_something(self) -> Self:
        if not self.names_any and (narrow := [key for key in ("tags", "except_accounts") if getattr(self, key)]):
            raise ValueError(
                f"{' and '.join(narrow)} without organizational_units or accounts would mean the service's own account "
                "alone; add organizational_units, the root's id for all accounts"
            )
        return self

    @property
    def names_any(self) -> bool:
        """Whether it names accounts other than the one that Slackwater runs in."""
        return bool(self.organizational_units or self.accounts)


TAG: Final = r"^[^=*]{1,128}(=[^*]{0,256})?$"
"""`key` or `key=value`. Wildcards are not supported, so a `*` would be a mistake."""
TAG_KEY: Final = r"^[^=*]{1,128}$"


class ExemptSection(Section):
    """Tags that protect a resource from waste findings (never from performance findings)."""

    keep_tags: list[Annotated[str, Field(pattern=TAG, examples=["keep", "DoNotDelete=yes"])]] = Field(
        default=["keep"],
        description=(
            'Tags that protect without end: "keep" protects with any value, "DoNotDelete=yes" only with this one. Case'
            " does not matter."
        ),
    )
    keep_until_tags: list[Annotated[str, Field(pattern=TAG_KEY, examples=["keep-until"])]] = Field(
        default=["keep-until"],
        description=(
            "Tag keys whose value, an RFC 3339 time or date, protects until then. An unreadable value protects too."
        ),
    )


class PricesSection(Section):
    """The prices that you really pay."""

    discount_percent: float = Field(default=0, ge=0, lt=100, description="Discount on every list price, in percent.")
    overrides: dict[str, dict[str, float]] = Field(
        default={},
        description=(
            'Your own unit prices in USD: [prices.overrides.<region>] "ebs.gp3.storage" = 0.07. They replace list '
            "prices, and discount_percent does not apply to them."
        ),
    )


class OwnersSection(Section):
    """Tags that name the owner or manager of a resource."""

    tags: list[str] = Field(
        default=["Owner", "owner", "Team", "team"],
        description="Tag keys that name the owner. The first one present is used.",
    )
    managed_tags: list[Annotated[str, Field(pattern=TAG, examples=["ManagedBy=terraform", "terraform"])]] = Field(
        default=[],
        description=(
            'Tags of resources that a program manages, such as "ManagedBy=terraform", or "terraform" with any value.'
            " Case does not matter. Slackwater names the tag in its advice, and never changes or deletes such a"
            " resource."
        ),
    )


CHANNEL: Final = r"^[CG][A-Z0-9]{2,}$"
USER: Final = r"^[UW][A-Z0-9]{2,}$"
GROUP: Final = r"^S[A-Z0-9]{2,}$"
"""These match the ids of Slack channels, users and user groups. The policy needs ids because names change."""

CHANNEL_LOOKS: Final = "it looks like C0123ABCDEF, and is at the end of the channel's details"
USER_LOOKS: Final = "it looks like U0123ABCDEF; a member's profile has it under 'Copy member ID'"

type ChannelId = Annotated[str, Field(pattern=CHANNEL, examples=["C0123ABCDEF"])]
type MentionId = Annotated[str, Field(pattern=f"{USER}|{GROUP}", examples=["U0123ABCDEF", "S0123ABCDEF"])]
type UserId = Annotated[str, Field(pattern=USER, examples=["U0123ABCDEF"])]


class SlackRoute(Section):
    """A channel for the findings that match everything it names."""

    channel: ChannelId = Field(description="The channel's id.")
    owner: str | None = Field(default=None, description="The resource's owner, as its tag has it.")
    account: str | None = Field(default=None, pattern=ACCOUNT, description="The account's id.")
    detector: str | None = Field(default=None, description="The detector's id.")

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if (self.owner, self.account, self.detector) == (None, None, None):
            raise ValueError("names neither owner, account nor detector: for everything else there is slack.channel")
        return self

    def takes_all_of(self, later: Self) -> bool:
        """Return whether it matches everything that a later route matches. Then the later route is never used."""
        return all(
            mine in {None, its}
            for mine, its in ((self.owner, later.owner), (self.account, later.account), (self.detector, later.detector))
        )


class SlackSection(Section):
    """What is posted to Slack, where, and who may use buttons."""

    channel: ChannelId | None = Field(
        default=None, description="The channel for digests. A webhook has its own channel."
    )
    fallback_channel: ChannelId | None = Field(
        default=None, description="The channel for posts that another channel refuses."
    )
    routes: list[SlackRoute] = Field(
        default=[], description="Channels for some findings. The first route that matches is used."
    )
    when_nothing_is_new: Literal["line", "silence"] = Field(
        default="line", description="What Slackwater posts if an audit found nothing new: one line, or nothing."
    )
    top_findings: int = Field(
        default=5, ge=1, le=10, description="Findings in the digest itself; all are in its thread."
    )
    deciders: list[UserId] = Field(
        default=[], description="Who may snooze, dismiss and stop by button. Empty means nobody."
    )
    people: dict[str, MentionId] = Field(
        default={},
        description="Whom to mention for an owner: the Slack id of a user (U…) or of a user group (S…) by owner.",
    )
    auditors: list[UserId] = Field(
        default=[], description="Who may start audits by /slackwater audit. Empty means nobody."
    )
    viewers: list[UserId] = Field(
        default=[],
        description=(
            "Who may read details, status and top. Deciders, auditors and approvers always may. If the list is empty, "
            "everybody in the workspace may."
        ),
    )


class ApiSection(Section):
    """Who may decide and start audits by API and command line. cleanup.approver_identities says who may approve."""

    deciders: list[str] = Field(
        default=[],
        description=(
            "Who may snooze, dismiss and reopen: an ARN as STS says it (without the session's name it is the whole "
            "role), or the e-mail address or subject of a token. If the list is empty, IAM alone decides for signed "
            "requests, and no token is accepted."
        ),
    )
    auditors: list[str] = Field(default=[], description="Who may start audits, named in the same way.")


class UnattendedTag(Section):
    """File systems of jobs that `efs-abandoned` may delete without an approval."""

    tag: str = Field(
        pattern=r"^[^=]{1,128}(=.{0,256})?$",
        description='The tag that only such file systems carry, "Job", or "Job=encode".',
    )
    grace_hours: int = Field(default=24, ge=1, le=24 * 90, description="Hours between the mark and the deletion.")
    its_data_is_scratch_and_needs_no_backup: bool = Field(
        default=False, description="True deletes without a backup, so that nothing brings the data back."
    )


class CleanupSection(Section):
    """What may be cleaned up after an approval. An empty list allows nothing."""

    accounts: list[Annotated[str, Field(pattern=ACCOUNT)]] = Field(default=[], description="Accounts' ids.")
    regions: list[str] = Field(default=[], description="Regions.")
    resource_types: list[str] = Field(default=[], description="Kinds of resources, such as ebs-volume.")
    detectors: list[str] = Field(default=[], description="Detectors whose findings may be approved.")
    approvers: list[UserId] = Field(default=[], description="Who may approve by button.")
    approver_identities: list[str] = Field(
        default=[],
        description=(
            "Who may approve by API and command line: an ARN as STS says it (without the session's name it is the "
            "whole role), or the e-mail address or subject of a token."
        ),
    )
    approval_days: int = Field(
        default=7,
        ge=1,
        le=90,
        description="Days after the grace period for which an approval is valid. After that, nothing happens.",
    )
    grace_days: int = Field(
        default=30, ge=1, le=240, description="Days between the tag with its warning, and the deletion."
    )
    warn_days: list[Annotated[int, Field(ge=1, le=365)]] = Field(
        default=[7, 1],
        description="Days before a deletion on which Slackwater warns the owner again, after the first warning.",
    )
    backup_days: int = Field(default=90, ge=7, le=3650, description="Days that the backup of what was deleted is kept.")
    most_resources: int = Field(
        default=10,
        ge=1,
        le=1000,
        description="The most clean-ups in a run and the 24 hours before it. With one more, it starts none.",
    )
    most_monthly_usd: float = Field(
        default=1000, gt=0, description="The most that these may save in USD a month. Above it, it starts none."
    )
    delete_without_warning: bool = Field(
        default=False,
        description=(
            "If true, Slackwater also deletes if there is no Slack channel to warn owners in. If there is a channel,"
            " it deletes only after every due warning was delivered."
        ),
    )
    unattended: list[UnattendedTag] = Field(default=[], description="What may be deleted without an approval.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A validated policy. `limits` has the limits of each enabled detector, by id; `version` identifies its text."""

    limits: Mapping[str, Limits]
    scan: ScanSection = field(default_factory=ScanSection)
    exempt: ExemptSection = field(default_factory=ExemptSection)
    prices: PricesSection = field(default_factory=PricesSection)
    owners: OwnersSection = field(default_factory=OwnersSection)
    organization: OrganizationSection = field(default_factory=OrganizationSection)
    slack: SlackSection = field(default_factory=SlackSection)
    api: ApiSection = field(default_factory=ApiSection)
    cleanup: CleanupSection = field(default_factory=CleanupSection)
    version: PolicyVersion = DEFAULTS

    @property
    def regions(self) -> frozenset[str]:
        """Every Region that the policy names anywhere."""
        return frozenset({*self.scan.regions, *self.prices.overrides, *self.cleanup.regions})

    @property
    def discount(self) -> Decimal:
        """The factor on list prices: 0.9 for a discount of 10%."""
        return 1 - Decimal(str(self.prices.discount_percent)) / 100
