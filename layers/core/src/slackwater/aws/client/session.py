"""Connections to AWS: credentials, retries, clients."""

from __future__ import annotations

import copy
import os
import threading
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from botocore.config import Config
from botocore.credentials import (
    AssumeRoleCredentialFetcher,
    CredentialProvider,
    CredentialResolver,
    DeferredRefreshableCredentials,
)
from botocore.exceptions import UnknownRegionError
from botocore.hooks import HierarchicalEmitter
from botocore.loaders import create_loader
from botocore.session import Session

from slackwater.aws.client.errors import THROTTLED, remedies
from slackwater.aws.client.offline import FALLBACK_REGION
from slackwater.aws.client.parsers import LeanParserFactory
from slackwater.model.services import IAM_PREFIXES
from slackwater.ports.errors import NoCredentialsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from botocore.loaders import Loader
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudtrail import CloudTrailClient
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_efs import EFSClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_fsx import FSxClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_pricing import PricingClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_stepfunctions import SFNClient
    from mypy_boto3_sts import STSClient

    from slackwater.aws.client.meter import CallMeter
    from slackwater.aws.client.rate_limit import RateLimit
    from slackwater.aws.client.services import Service

ACTIONS: Final = frozenset({"sts:AssumeRole"})

USER_AGENT: Final = "slackwater/0.1.0"

CONNECT_TIMEOUT_S: Final = 5


@dataclass(frozen=True, slots=True)
class Patience:
    """How often to ask AWS before giving up, and how long to wait for a connection and for each answer.

    `replaceable` is for services whose answers something packaged can replace, `first` for those that a command asks
    first.
    """

    max_attempts: int
    read_timeout_s: int
    connect_timeout_s: int = CONNECT_TIMEOUT_S
    retry_mode: Literal["adaptive", "standard"] = "adaptive"
    replaceable: Patience | None = None
    first: Patience | None = None

    def with_(self, service: str) -> Patience:
        """What it is with one service."""
        if self.first and service in ASKED_FIRST:
            return self.first
        return self.replaceable if self.replaceable and service in REPLACEABLE else self


PATIENT: Final = Patience(8, 60)
"""A throttled scan slows down (adaptive mode) rather than fails; eight attempts back off for half a minute and then say
so.
"""

ASKED_FIRST: Final = frozenset({"sts", "cloudformation"})
"""Each answers in a fraction of a second, so a command that gets no answer has a wrong endpoint or no network."""

AT_A_TERMINAL: Final = Patience(8, 60, first=Patience(2, 2, 2, "standard"))
"""As PATIENT, but a dead endpoint shows within 2 x 2 s and the pause between."""

REPLACEABLE: Final = frozenset({"ec2", "pricing"})
"""Where somebody waits, these are asked for instance types and prices, and snapshots stand in."""

SOMEBODY_WAITS: Final = Patience(3, 8, replaceable=Patience(2, 3, 3, "standard"))
"""Whoever asks the API shall hear that the store is busy before API Gateway hangs up, after 30 seconds.

A call of a replaceable service ends after 2 x (3 + 3) + 1 between = 13 of them; the adaptive mode would slow all calls
down.
"""

ONCE: Final = Patience(1, 60, retry_mode="standard")
"""For what must be asked once: an answer that was lost does not say that nothing was done.

The environment cannot change it.
"""

SLACK_WAITS: Final = Patience(2, 1, 1, "standard")
"""Slack hangs up after three seconds, and whoever pressed a button is told that it did not work."""

ASIDE: Final = Patience(2, 2, 2, "standard")
"""For what a scan goes on without."""

QUICK_ATTEMPTS: Final = {"sts": 3, "pricing": 3}
"""Services that are asked first, where a wrong endpoint must show soon, or that have a fallback."""

POOL: Final = 16
"""Connections a client keeps: no fewer than threads that use it."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Something that stands in for AWS (a simulated account), with its own keys: no configuration, proxy or profile is
    read.
    """

    url: str
    access_key_id: str
    secret_access_key: str


class AwsSession:
    """Clients of one set of credentials. Thread-safe.

    Profiles and environment variables mean what they mean to every AWS SDK; AWS_REGION comes before AWS_DEFAULT_REGION.
    """

    def __init__(  # noqa: PLR0913 -- settings that do not depend on each other, all with a default but one
        self,
        profile: str | None = None,
        role_arn: str | None = None,
        external_id: str | None = None,
        *,
        meter: CallMeter,
        home: str | None = None,
        endpoint: Endpoint | None = None,
        patience: Patience = PATIENT,
    ) -> None:
        """Use the profile's (or the environment's) credentials, or those of a role that they may assume.

        `home` is the region to ask what is not about a region: keys of one partition are unknown in another. One that
        botocore does not know is ignored here; whoever misspelt it is told by name.

        Raises:
            NoCredentialsError: the profile does not exist.
        """
        self._endpoint = endpoint
        self.simulated = endpoint is not None
        """Whether nobody else is there whom it could disturb."""
        self._patience = patience
        self._profile = profile
        self._hooks = HierarchicalEmitter()
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], Any] = {}
        self.rate_limit: RateLimit | None = None
        """How fast its account is asked, retries included; without one, as fast as there are answers."""
        with remedies():
            own = self._session_of(self._hooks)
            meter.watch(own)
            if endpoint:
                own.set_credentials(endpoint.access_key_id, endpoint.secret_access_key)
            self.region: str | None = (
                None if endpoint else os.environ.get("AWS_REGION") or own.get_config_variable("region")
            )
            self._session = own
            own.get_scoped_config()  # a profile that does not exist shows here
            # Which regions there are is in EC2's model: a tenth of a second of every start, for nothing where none is
            # named.
            self.home = home if home and home in self.regions_of("ec2") else self.region or FALLBACK_REGION
            if role_arn:
                create_sts = partial(own.create_client, **self._options("sts", self.home))
                self._session = self._session_as(_AssumedRole(own, create_sts, role_arn, external_id))

    def assuming(self, role_arn: str, external_id: str | None = None) -> AwsSession:
        """A session of a role that these credentials may assume, which is assumed now, and counted by the same meter.

        It shares what botocore has read and registered: without a client it takes less than a millisecond.

        Raises:
            AwsError: the role cannot be assumed.
        """
        with remedies():
            session = self._session_as(
                _AssumedRole(self._session, lambda *_, **__: self.client("sts", self.home), role_arn, external_id)
            )
            if credentials := session.get_credentials():
                credentials.get_frozen_credentials()
        other = copy.copy(self)
        other.__dict__.update(_session=session, _clients={}, _lock=threading.Lock(), rate_limit=None)
        return other

    def without_retries(self) -> AwsSession:
        """Return this session with clients that send each request once."""
        other = copy.copy(self)
        other.__dict__.update(_patience=ONCE, _clients={}, _lock=threading.Lock())
        return other

    @overload
    def client(self, service: Literal["ec2"], region: str) -> EC2Client: ...
    @overload
    def client(self, service: Literal["efs"], region: str) -> EFSClient: ...
    @overload
    def client(self, service: Literal["fsx"], region: str) -> FSxClient: ...
    @overload
    def client(self, service: Literal["cloudwatch"], region: str) -> CloudWatchClient: ...
    @overload
    def client(self, service: Literal["cloudtrail"], region: str) -> CloudTrailClient: ...
    @overload
    def client(self, service: Literal["pricing"], region: str) -> PricingClient: ...
    @overload
    def client(self, service: Literal["sts"], region: str) -> STSClient: ...
    @overload
    def client(self, service: Literal["dynamodb"], region: str) -> DynamoDBClient: ...
    @overload
    def client(self, service: Literal["s3"], region: str) -> S3Client: ...
    @overload
    def client(self, service: Literal["stepfunctions"], region: str) -> SFNClient: ...
    @overload
    def client(self, service: Literal["events"], region: str) -> EventBridgeClient: ...
    @overload
    def client(self, service: Literal["lambda"], region: str) -> LambdaClient: ...
    @overload
    def client(self, service: Literal["secretsmanager"], region: str) -> SecretsManagerClient: ...
    @overload
    def client(self, service: Literal["cloudformation"], region: str) -> CloudFormationClient: ...
    @overload
    def client(self, service: Service, region: str) -> Any: ...
    def client(self, service: Service, region: str) -> Any:
        """The client of a service in a region; made once."""
        with self._lock:
            if (service, region) not in self._clients:
                with remedies():
                    client = self._session.create_client(service, **self._options(service, region))
                self._limit_rate(client, IAM_PREFIXES.get(service, service), region)
                self._clients[service, region] = client
            return self._clients[service, region]

    def has_credentials(self) -> bool:
        """True where there are any, good or not. Asks AWS nothing.

        Where neither environment nor profile has any, the metadata service of EC2 is asked, as by every SDK: once, for
        a second at most each for a token and the role, unless the environment says otherwise.

        Raises:
            AwsError: what is configured is broken.
        """
        with self._lock, remedies():
            return self._session.get_credentials() is not None

    def regions_of(self, service: str) -> list[str]:
        """Every region in which botocore knows a service, in all partitions, sorted. Makes no call."""
        with self._lock:
            partitions = self._session.get_available_partitions()
            return sorted({r for p in partitions for r in self._session.get_available_regions(service, p)})

    def partition_of(self, region: str) -> str:
        """The partition that a region is in; `aws` where botocore cannot tell. Makes no call."""
        try:
            with self._lock:
                return str(self._session.get_partition_for_region(region))
        except UnknownRegionError:
            return "aws"

    def _limit_rate(self, client: Any, service: str, region: str) -> None:
        """Have every request of a client wait for its turn: before it is signed, because a signature grows old."""

        def wait(**_: Any) -> None:
            if self.rate_limit:
                self.rate_limit.call(service, region)

        def look(parsed_response: Mapping[str, Any] | None, **_: Any) -> None:
            if self.rate_limit and parsed_response and parsed_response.get("Error", {}).get("Code") in THROTTLED:
                self.rate_limit.throttled(service, region)

        name = client.meta.service_model.service_id.hyphenize()
        client.meta.events.register_first(f"request-created.{name}", wait)
        client.meta.events.register(f"response-received.{name}", look)

    def _session_of(self, hooks: HierarchicalEmitter, *, built: bool = False) -> Session:
        """A session of botocore's with our parsers; it has no credentials yet where an endpoint is given.

        To `built` hooks everything that it registers there, and whoever counts, is registered already: most of its
        cost.
        """
        options: dict[str, Any] = {
            "profile": self._profile,
            "event_hooks": hooks,
            "include_builtin_handlers": not built,
        }
        if self._endpoint:
            no_files = dict.fromkeys(("config_file", "credentials_file"), (None, None, os.devnull, None))
            options |= {"profile": None, "session_vars": {"profile": (None, None, None, None), **no_files}}
        session = Session(**options)
        session.register_component("data_loader", _loader(session.get_config_variable("data_path")))
        session.register_component("response_parser_factory", LeanParserFactory())
        return session

    def _session_as(self, role: CredentialProvider) -> Session:
        """Another session like this one's, with other credentials."""
        session = self._session_of(copy.copy(self._hooks), built=True)
        session.register_component("credential_provider", CredentialResolver([role]))
        return session

    def _options(self, service: str, region: str) -> dict[str, Any]:
        patience = self._patience.with_(service)
        settings: dict[str, Any] = {
            "retries": {"mode": patience.retry_mode},
            "connect_timeout": patience.connect_timeout_s,
            "read_timeout": patience.read_timeout_s,
            "max_pool_connections": POOL,
            "user_agent_extra": USER_AGENT,
            "parameter_validation": False,  # all parameters are our own; a fifth of the work of a GetMetricData call
        }
        if self._endpoint or patience.max_attempts == 1 or "AWS_MAX_ATTEMPTS" not in os.environ:
            most = patience.max_attempts
            settings["retries"]["total_max_attempts"] = min(most, QUICK_ATTEMPTS.get(service, most))
        if (
            service == "s3"
        ):  # a link must name the bucket's own region, or it is redirected and its signature no longer fits
            settings["signature_version"] = "s3v4"
            settings["s3"] = {"addressing_style": "virtual", "us_east_1_regional_endpoint": "regional"}
        if self._endpoint:
            settings["proxies"] = {}
        url = self._endpoint.url if self._endpoint else None
        return {"region_name": region, "config": Config(**settings), "endpoint_url": url}


@cache
def _loader(data_path: str | None) -> Loader:
    """What has read botocore's data, kept for all sessions: EC2's model takes longer to read than many
    regions to scan.
    """
    return create_loader(data_path)


class _AssumedRole(CredentialProvider):
    """Credentials of a role, fetched when first needed and again before they run out."""

    METHOD = "slackwater-assume-role"

    def __init__(self, source: Session, create_sts: Callable[..., Any], role_arn: str, external_id: str | None) -> None:
        super().__init__()
        self._source, self._create_sts, self._role_arn = source, create_sts, role_arn
        self._extra = {"RoleSessionName": "slackwater"} | ({"ExternalId": external_id} if external_id else {})

    def load(self) -> DeferredRefreshableCredentials:
        source = self._source.get_credentials()
        if source is None:
            raise NoCredentialsError(
                "No AWS credentials found that could assume the role: name a profile with --profile"
            )
        fetcher = AssumeRoleCredentialFetcher(self._create_sts, source, self._role_arn, extra_args=self._extra)
        return DeferredRefreshableCredentials(fetcher.fetch_credentials, self.METHOD)
