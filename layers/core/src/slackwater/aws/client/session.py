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
from botocore.session import Session

from slackwater.aws.client.botocore_data import lean_loader
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
class RetrySettings:
    """How often to call AWS before giving up, and how long to wait for a connection and for each response.

    `replaceable` applies to services in REPLACEABLE, whose responses packaged data can replace. `first` applies to
    services in CALLED_FIRST, which a command calls first.
    """

    max_attempts: int
    read_timeout_s: int
    connect_timeout_s: int = CONNECT_TIMEOUT_S
    retry_mode: Literal["adaptive", "standard"] = "adaptive"
    replaceable: RetrySettings | None = None
    first: RetrySettings | None = None

    def for_service(self, service: str) -> RetrySettings:
        """Return the settings for one service."""
        if self.first and service in CALLED_FIRST:
            return self.first
        return self.replaceable if self.replaceable and service in REPLACEABLE else self


DEFAULT_RETRIES: Final = RetrySettings(8, 60)
"""The default. If AWS throttles a scan, the scan slows down (adaptive mode) instead of failing. Eight attempts take
about half a minute before the call fails.
"""

CALLED_FIRST: Final = frozenset({"sts", "cloudformation"})
"""Each responds in a fraction of a second. If neither does, the endpoint is wrong or there is no network."""

TERMINAL_RETRIES: Final = RetrySettings(8, 60, first=RetrySettings(2, 2, 2, "standard"))
"""As the default, but an endpoint that does not respond is reported after 2 x 2 s and the pause between attempts."""

REPLACEABLE: Final = frozenset({"ec2", "pricing"})
"""While a user waits, these are called for instance types and prices. Packaged snapshots replace their responses."""

API_RETRIES: Final = RetrySettings(3, 8, replaceable=RetrySettings(2, 3, 3, "standard"))
"""For API requests: the user must learn that the table is busy before API Gateway closes the connection, after 30
seconds.

A call of a replaceable service ends after 2 x (3 + 3) s and 1 s between the attempts, 13 s in all. Adaptive mode would
slow down all calls.
"""

NO_RETRIES: Final = RetrySettings(1, 60, retry_mode="standard")
"""For requests that must be sent only once. If the response is lost, AWS may still have executed the request.

AWS_MAX_ATTEMPTS cannot change it.
"""

SLACK_RETRIES: Final = RetrySettings(2, 1, 1, "standard")
"""For Slack requests. Slack times out after three seconds and tells the user that the action failed."""

OPTIONAL_RETRIES: Final = RetrySettings(2, 2, 2, "standard")
"""For calls that a scan can do without."""

QUICK_ATTEMPTS: Final = {"sts": 3, "pricing": 3}
"""Maximum attempts for services that are called first, so that a wrong endpoint shows soon, or that have a fallback."""

POOL: Final = 16
"""Connections that a client keeps: at least as many as threads that use it."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint that replaces AWS (a simulated account), with its own keys.

    No configuration, proxy or profile is read.
    """

    url: str
    access_key_id: str
    secret_access_key: str


class AwsSession:
    """Clients that share one set of credentials. Thread-safe.

    Profiles and environment variables have the same meaning as in every AWS SDK. AWS_REGION takes precedence over
    AWS_DEFAULT_REGION.
    """

    def __init__(  # noqa: PLR0913 -- independent settings; all but one have a default
        self,
        profile: str | None = None,
        role_arn: str | None = None,
        external_id: str | None = None,
        *,
        meter: CallMeter,
        home: str | None = None,
        endpoint: Endpoint | None = None,
        retries: RetrySettings = DEFAULT_RETRIES,
    ) -> None:
        """Use the credentials of the profile or the environment, or of a role that they can assume.

        Args:
            profile: A profile of the AWS configuration; None uses the environment.
            role_arn: The role to assume.
            external_id: The external id to send when assuming the role.
            meter: Counts the calls.
            home: The region for requests that do not concern a region, because a partition rejects keys of another
                partition. A region that botocore does not have is ignored here; a misspelled one is reported elsewhere.
            endpoint: Replaces AWS.
            retries: Retries and timeouts.

        Raises:
            NoCredentialsError: The profile does not exist.
        """
        self._endpoint = endpoint
        self.simulated = endpoint is not None
        """Whether there is an endpoint that replaces AWS, so that no other program shares its rate limits."""
        self._retries = retries
        self._profile = profile
        self._hooks = HierarchicalEmitter()
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], Any] = {}
        self.rate_limit: RateLimit | None = None
        """The rate limit of the account, which also applies to retries. None means no limit."""
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
            # The list of regions is read only if `home` is given, because reading it takes a tenth of a second.
            self.home = home if home and home in self.regions_of("ec2") else self.region or FALLBACK_REGION
            if role_arn:
                create_sts = partial(own.create_client, **self._options("sts", self.home))
                self._session = self._session_as(_AssumedRole(own, create_sts, role_arn, external_id))

    def assuming(self, role_arn: str, external_id: str | None = None) -> AwsSession:
        """Assume a role with these credentials, and return a session of it. The same meter counts its calls.

        It shares what botocore has loaded and registered. Creating it without a client takes less than a millisecond.

        Raises:
            AwsError: The role cannot be assumed.
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
        other.__dict__.update(_retries=NO_RETRIES, _clients={}, _lock=threading.Lock())
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
        """Return the client of a service in a region. It is created once."""
        with self._lock:
            if (service, region) not in self._clients:
                with remedies():
                    client = self._session.create_client(service, **self._options(service, region))
                self._limit_rate(client, IAM_PREFIXES.get(service, service), region)
                self._clients[service, region] = client
            return self._clients[service, region]

    def has_credentials(self) -> bool:
        """Return whether there are any credentials, valid or not. Makes no AWS call.

        If neither the environment nor a profile has any, botocore queries EC2's metadata service, as every SDK does. It
        tries once, for at most a second each for the token and the role, unless the environment says otherwise.

        Raises:
            AwsError: The configuration is invalid.
        """
        with self._lock, remedies():
            return self._session.get_credentials() is not None

    def regions_of(self, service: str) -> list[str]:
        """Return every region of all partitions in which botocore has a service, sorted. Makes no call."""
        with self._lock:
            partitions = self._session.get_available_partitions()
            return sorted({r for p in partitions for r in self._session.get_available_regions(service, p)})

    def partition_of(self, region: str) -> str:
        """Return the partition of a region, or `aws` if botocore does not have the region. Makes no call."""
        try:
            with self._lock:
                return str(self._session.get_partition_for_region(region))
        except UnknownRegionError:
            return "aws"

    def _limit_rate(self, client: Any, service: str, region: str) -> None:
        """Make every request of a client wait for the rate limit.

        It waits before the request is signed, because a signature expires.
        """

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
        """Return a botocore session with Slackwater's parsers. With an endpoint, it has no credentials yet.

        If `built`, `hooks` already has botocore's own handlers and the meter. Registering them is most of the cost.
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
        """Return a session like this one with other credentials."""
        session = self._session_of(copy.copy(self._hooks), built=True)
        session.register_component("credential_provider", CredentialResolver([role]))
        return session

    def _options(self, service: str, region: str) -> dict[str, Any]:
        retries = self._retries.for_service(service)
        settings: dict[str, Any] = {
            "retries": {"mode": retries.retry_mode},
            "connect_timeout": retries.connect_timeout_s,
            "read_timeout": retries.read_timeout_s,
            "max_pool_connections": POOL,
            "user_agent_extra": USER_AGENT,
            "parameter_validation": False,  # they are our own; validation is a fifth of a GetMetricData call's work
        }
        if self._endpoint or retries.max_attempts == 1 or "AWS_MAX_ATTEMPTS" not in os.environ:
            most = retries.max_attempts
            settings["retries"]["total_max_attempts"] = min(most, QUICK_ATTEMPTS.get(service, most))
        if (
            service == "s3"
        ):  # a presigned URL must name the bucket's region; after a redirect its signature would be invalid
            settings["signature_version"] = "s3v4"
            settings["s3"] = {"addressing_style": "virtual", "us_east_1_regional_endpoint": "regional"}
        if self._endpoint:
            settings["proxies"] = {}
        url = self._endpoint.url if self._endpoint else None
        return {"region_name": region, "config": Config(**settings), "endpoint_url": url}


@cache
def _loader(data_path: str | None) -> Loader:
    """Return a loader of botocore's data that all sessions share.

    Loading EC2's model takes longer than scanning many regions.
    """
    return lean_loader(data_path)


class _AssumedRole(CredentialProvider):
    """Credentials of a role, fetched on first use and refreshed before they expire."""

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
