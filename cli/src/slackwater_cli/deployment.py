"""Finds the deployed service by its CloudFormation stack. Commands call it with the user's own credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from slackwater_cli.credentials import check_credentials
from slackwater_cli.exits import UsageError
from slackwater_cli.slow import endpoint_hint, waiting_for
from slackwater_cli.targets import refuse_unknown

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.wiring.settings import DeploymentSettings


WITHOUT: Final = "This command needs a deployed Slackwater; for a scan use `slackwater scan --details`"


@dataclass(frozen=True, slots=True)
class Deployment:
    """The service's settings, an AWS session in its home region, and the stack's outputs."""

    deployed: DeploymentSettings
    session: AwsSession
    outputs: Mapping[str, str]


def deployment(stack: str, stack_region: str | None, profile: str | None) -> Deployment:
    """Return the service that this stack deployed.

    Raises:
        UsageError: No region is set, the stack does not exist in it, or it is not a Slackwater stack.
        AwsError: The stack cannot be read.
    """
    from slackwater.aws.client.meter import CallMeter
    from slackwater.aws.client.regions import default_region, known_regions
    from slackwater.aws.client.session import TERMINAL_RETRIES, AwsSession
    from slackwater.aws.deployment.stack import StackError, stack_outputs
    from slackwater.wiring.settings import DeploymentSettings, NotDeployedError

    session = AwsSession(profile, meter=CallMeter(), home=stack_region, retries=TERMINAL_RETRIES)
    region = default_region(session) if stack_region is None else stack_region
    if region is None:
        raise UsageError(f"No region: set the stack's region with --stack-region or AWS_REGION. {WITHOUT}")
    origin = "AWS_REGION or the profile" if stack_region is None else "--stack-region"
    refuse_unknown(origin, [region], known_regions(session))
    with waiting_for("AWS credentials"):
        check_credentials(session)
    try:
        with waiting_for(f"AWS CloudFormation in {region}{endpoint_hint()}"):
            outputs, status = stack_outputs(session, stack, region)
    except StackError as error:
        set_it = "Set its name with --stack and its region with --stack-region, or deploy it"
        raise UsageError(f"{error}. {set_it}. {WITHOUT}") from error
    try:
        return Deployment(DeploymentSettings.of_stack(outputs), session, outputs)
    except NotDeployedError as error:
        raise UsageError(f"--stack {stack}: {error}. The stack is {status}, or it is not a Slackwater stack") from error
