"""`slackwater doctor`."""

from functools import partial
from typing import Annotated

import typer

from slackwater.views.text.words import count
from slackwater_cli.exits import ExitStatus
from slackwater_cli.options import (
    ExternalIdOption,
    FormatOption,
    Output,
    PolicyOption,
    ProfileOption,
    RoleOption,
    check_role,
    policy_file,
)
from slackwater_cli.streams import note, rendered, write
from slackwater_cli.targets import regions_without_asking, targets_to_scan


def doctor(
    region: Annotated[list[str] | None, typer.Option(metavar="R", help="Ask in this region; may be repeated.")] = None,
    all_regions: Annotated[bool, typer.Option("--all-regions", help="Ask in every region that is enabled.")] = False,
    policy: PolicyOption = None,
    profile: ProfileOption = None,
    role_arn: RoleOption = None,
    external_id: ExternalIdOption = None,
    format: FormatOption = Output.TABLE,
) -> None:
    """Check IAM permissions before your first scan.

    Prints the policy statement that grants what is missing.

    Each action is asked for once in each region, by its smallest call. That costs 0.00001 USD a region.

    \b
    Exit status:
    0 everything required is allowed
    2 wrong usage or policy
    3 something required is denied, or cannot be reached
    4 no credentials, or nothing reachable
    """  # noqa: D301 -- the mark that keeps the lines apart
    note("Checking your AWS credentials and permissions …")
    from slackwater.app.audit.doctor import examined
    from slackwater.app.policy.file import load_policy
    from slackwater.aws.client.identity import identity
    from slackwater.aws.client.meter import CallMeter
    from slackwater.aws.client.session import TERMINAL_RETRIES, AwsSession
    from slackwater.aws.inventory.permission_checks import AwsPermissionChecks
    from slackwater.engine.registry import registry
    from slackwater.model.money import USD_PER_METRIC
    from slackwater.views.scan import doctor_to_json as doctor_json
    from slackwater.views.scan.to_json import dump
    from slackwater.wiring.scan import clock
    from slackwater.wiring.scan_needs import needs
    from slackwater_cli.doctor_table import draw_examination
    from slackwater_cli.stopping import interruptible

    check_role(role_arn, external_id)
    policy = policy_file(policy)
    rules = load_policy(policy, registry(), (), regions_without_asking())
    meter = CallMeter()
    session = AwsSession(
        profile,
        role_arn,
        external_id,
        meter=meter,
        retries=TERMINAL_RETRIES,
        home=next(iter(region or rules.scan.regions), None),
    )
    targets = targets_to_scan(session, region or [], rules, policy, every=all_regions)
    needed = needs({id_: registry()[id_] for id_ in rules.limits})
    checks = AwsPermissionChecks(session, meter, clock())
    seen = interruptible(lambda: examined(identity(session), [target.region for target in targets], needed, checks))
    if format is Output.JSON:
        write(dump(doctor_json.document(seen)))
    else:
        write(rendered(partial(draw_examination, seen)))
    asked, usd = sum(meter.api_calls().values()), meter.metrics_requested() * USD_PER_METRIC
    note(f"This sent {count(asked, 'request')} to AWS, for about {usd.normalize():f} USD.")
    raise typer.Exit(ExitStatus.COMPLETE if seen.ready else ExitStatus.INCOMPLETE)
