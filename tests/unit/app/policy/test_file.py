"""The policy file: what it changes, and the errors and warnings about it."""

from decimal import Decimal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from slackwater.app.policy.file import PolicyError, check_regions, load_policy, parse_policy, policy_schema
from slackwater.app.policy.model import REMOVABLE
from slackwater.app.policy.warnings import NOBODY_IS_WARNED, find_warnings
from slackwater.engine.cleanup import CLEANABLE
from slackwater.engine.registry import registry
from slackwater.model.policy import CleanupSection, SlackRoute, SlackSection
from support.worked_cases import flagged

REGIONS = ["ap-northeast-1", "eu-west-1", "us-east-1"]


@pytest.fixture
def policy_file(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "slackwater.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def complaints(path: Path | None, only: tuple[str, ...] = ()) -> list[str]:
    """Return the error messages about a policy file, without its folder."""
    with pytest.raises(PolicyError) as caught:
        load_policy(path, registry(), only)
    return [line.replace(f"{path}", path.name if path else "") for line in str(caught.value).splitlines()]


def test_without_a_file_every_detector_is_on_with_its_defaults_unless_it_requires_a_policy_key() -> None:
    policy = load_policy(None, registry())

    assert list(policy.limits) == [id_ for id_ in registry() if id_ != "efs-abandoned"]
    assert all(limits == registry()[id_].limits() for id_, limits in policy.limits.items())


def test_a_file_changes_limits_and_leaves_the_others_alone(policy_file) -> None:
    policy = load_policy(
        policy_file(
            """
            [scan]
            regions = ["eu-west-1"]
            minimum_monthly_savings_usd = 5
            most_metrics_usd = 0.5
            calls_per_second = { elasticfilesystem = 2, cloudtrail = 0.5 }
            datapoints_per_second = 100_000
            [detectors.efs-idle]
            quiet_days = 60
            [prices]
            discount_percent = 10
            [prices.overrides.eu-west-1]
            "ebs.gp3.storage" = 0.07
            "ec2.t3.micro.hour" = 0.01
            """
        ),
        registry(),
    )

    assert policy.limits["efs-idle"] == registry()["efs-idle"].limits(quiet_days=60)
    assert type(policy.limits["efs-idle"]) is registry()["efs-idle"].limits
    assert policy.limits["ebs-unattached"] == registry()["ebs-unattached"].limits()
    assert (policy.scan.regions, policy.scan.minimum_monthly_savings_usd) == (["eu-west-1"], 5)
    assert (policy.scan.most_metrics_usd, policy.scan.datapoints_per_second) == (0.5, 100_000)
    assert policy.scan.calls_per_second == {"elasticfilesystem": 2, "cloudtrail": 0.5}
    assert policy.discount == Decimal("0.9")
    assert policy.prices.overrides["eu-west-1"] == {"ebs.gp3.storage": 0.07, "ec2.t3.micro.hour": 0.01}


@pytest.mark.parametrize("tag", ["Job", "Job=encode", "Job=", "aws:batch/Job=a=b"])
def test_a_tag_is_named_by_its_key_or_with_its_value(tag: str, policy_file) -> None:
    policy = load_policy(policy_file(f'[detectors.efs-abandoned]\ntag = "{tag}"\n'), registry())

    assert policy.limits["efs-abandoned"] == registry()["efs-abandoned"].limits(tag=tag)


def test_a_detector_that_is_off_is_not_in_the_policy(policy_file) -> None:
    policy = load_policy(policy_file("[detectors.efs-idle]\nenabled = false\n"), registry())

    assert set(policy.limits) == set(registry()) - {"efs-idle", "efs-abandoned"}


def test_a_detector_without_a_limit_that_it_needs_is_off_unless_it_is_named(policy_file) -> None:
    path = policy_file("[detectors.efs-abandoned]\nquiet_hours = 12\n")

    assert "efs-abandoned" not in load_policy(path, registry()).limits
    assert list(load_policy(path, registry(), ["efs-abandoned"]).limits) == ["efs-abandoned"]
    assert (
        load_policy(policy_file("[detectors.efs-abandoned]\ntag = 'Job'\n"), registry()).limits.keys()
        == registry().keys()
    )


def test_naming_detectors_runs_these_alone_even_if_the_file_has_them_off(policy_file) -> None:
    path = policy_file("[detectors.efs-idle]\nenabled = false\nquiet_days = 60\n")

    policy = load_policy(path, registry(), ["efs-idle"])

    assert dict(policy.limits) == {"efs-idle": registry()["efs-idle"].limits(quiet_days=60)}


def test_a_policy_that_turns_everything_off_is_refused(policy_file) -> None:
    path = policy_file("".join(f"[detectors.{id_}]\nenabled = false\n" for id_ in registry()))

    assert complaints(path) == ["slackwater.toml: detectors: every detector is off; leave one of them on"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n[detectors.efs-idel]\n", "slackwater.toml:2: detectors.efs-idel: no such detector; did you mean efs-idle?"),
        (
            "[detectors.efs-idle]\n\nquite_days = 30\n",
            "slackwater.toml:3: detectors.efs-idle.quite_days: no such key; did you mean quiet_days?",
        ),
        (
            "[detectors.efs-idle]\nquiet_days = -3\n",
            "slackwater.toml:2: detectors.efs-idle.quiet_days: must be greater than or equal to 7 (days), not -3",
        ),
        (
            "[detectors.efs-idle]\nquiet_days = 'a month'\n",
            'slackwater.toml:2: detectors.efs-idle.quiet_days: must be a valid integer (days), not "a month"',
        ),
        (
            "[detectors.efs-idle]\nenabled = 1\n",
            "slackwater.toml:2: detectors.efs-idle.enabled: must be a valid boolean, not 1",
        ),
        (
            '[detectors.efs-abandoned]\ntag = ""\n',
            (
                'slackwater.toml:2: detectors.efs-abandoned.tag: must have at least 1 character (tag), not "";'
                ' such as "Job" or "Job=encode"'
            ),
        ),
        (
            '[detectors.efs-abandoned]\ntag = "=encode"\n',
            (
                "slackwater.toml:2: detectors.efs-abandoned.tag: must match pattern '^[^\\s=]' (tag), not \"=encode\";"
                ' such as "Job" or "Job=encode"'
            ),
        ),
        ("[detector.efs-idle]\n", "slackwater.toml:1: detector: no such section; did you mean detectors?"),
        (
            "[prices]\ndiscount_percent = 100\n",
            "slackwater.toml:2: prices.discount_percent: must be less than 100, not 100",
        ),
        (
            "[prices.overrides.us-east-1]\n'ebs.gp3.storag' = 0.1\n",
            (
                "slackwater.toml:2: prices.overrides.us-east-1.ebs.gp3.storag: no such price item; "
                "did you mean ebs.gp3.storage?"
            ),
        ),
        (
            "[scan.calls_per_second]\ncloudtrial = 1\n",
            "slackwater.toml:2: scan.calls_per_second.cloudtrial: no such service; did you mean cloudtrail?",
        ),
        (
            "[scan]\ncalls_per_second = { efs = 5 }\n",
            "slackwater.toml:2: scan.calls_per_second.efs: no such service; did you mean elasticfilesystem?",
        ),
        (
            "[scan]\ncalls_per_second = { ec2 = 0 }\n",
            "slackwater.toml:2: scan.calls_per_second.ec2: must be greater than 0, not 0",
        ),
        ("[scan]\nmost_metrics_usd = 0\n", "slackwater.toml:2: scan.most_metrics_usd: must be greater than 0, not 0"),
        (
            "[prices.overrides.us-east-1]\n'efs.elastic.writes' = 0.1\n",
            (
                "slackwater.toml:2: prices.overrides.us-east-1.efs.elastic.writes: no such price item; "
                "did you mean efs.elastic.write?"
            ),
        ),
        (
            "[prices.overrides.us-east-1]\n'ebs.gp3.storage' = -0.1\n",
            (
                "slackwater.toml:2: prices.overrides.us-east-1.ebs.gp3.storage: must be greater than or equal to 0, "
                "not -0.1"
            ),
        ),
        (
            "[scan]\nregions = [\n  'us-east-1',\n  7,\n]\n",
            "slackwater.toml:2: scan.regions[2]: must be a valid string, not 7",
        ),
        ("[scan]\n\nregions = [", "slackwater.toml:3: not valid TOML: Invalid value"),
        (
            "[slack]\nchannel = C0123ABCDEF\n",
            'slackwater.toml:2: not valid TOML: Invalid value; text is in quotes: "C0123ABCDEF"',
        ),
        (
            "[slack]\nchannel = #storage\n",
            'slackwater.toml:2: not valid TOML: Invalid value; text is in quotes: "#storage"',
        ),
        (
            "[slack]\ndeciders = [\n  U0ADA, U0JOE]\n",
            'slackwater.toml:3: not valid TOML: Invalid value; text is in quotes: "U0ADA"',
        ),
        ("[detectors.efs-idle]\nenabled = False\n", "slackwater.toml:2: not valid TOML: Invalid value"),
        (
            "[slack]\nchannel = '#storage'\n",
            (
                'slackwater.toml:2: slack.channel: "#storage" is no channel\'s id;'
                " it looks like C0123ABCDEF, and is at the end of the channel's details"
            ),
        ),
        (
            "[cleanup]\n\napprovers = ['U0ADA', 'ada']\n",
            (
                'slackwater.toml:3: cleanup.approvers[2]: "ada" is no member\'s id;'
                " it looks like U0123ABCDEF; a member's profile has it under 'Copy member ID'"
            ),
        ),
        (
            "[slack]\ndeciders = ['S0STORAGE']\n",
            (
                "slackwater.toml:2: slack.deciders[1]: \"S0STORAGE\" is a group's, and no member's id;"
                " it looks like U0123ABCDEF; a member's profile has it under 'Copy member ID'"
            ),
        ),
        (
            "[cleanup]\naccounts = ['1234-5678-9012']\n",
            'slackwater.toml:2: cleanup.accounts[1]: "1234-5678-9012" is no account\'s id; it has twelve digits',
        ),
        (
            "[organization]\n\norganizational_units = ['r-ab12', 'OU-ab12']\n",
            (
                'slackwater.toml:3: organization.organizational_units[2]: "OU-ab12" is no unit\'s id;'
                " it looks like ou-ab12-34cd56ef, or the root's like r-ab12"
            ),
        ),
        (
            "[organization]\naccounts = [444455556666]\n",
            (
                "slackwater.toml:2: organization.accounts[1]: must be text, not a number; put it in quotes: "
                '"444455556666"'
            ),
        ),
        (
            "[organization]\naccounts = [\n  012345678901]\n",
            'slackwater.toml:3: not valid TOML: Unclosed array; an account\'s id is in quotes: "012345678901"',
        ),
        (
            "[organization]\ntags = { Environment = 'production' }\n",
            (
                "slackwater.toml:1: organization: tags without organizational_units or accounts would mean the"
                " service's own account alone; add organizational_units, the root's id for all accounts"
            ),
        ),
        (
            "\n[organization]\nexcept_accounts = ['444455556666']\ntags = { Environment = 'production' }\n",
            (
                "slackwater.toml:2: organization: tags and except_accounts without organizational_units or accounts"
                " would mean the service's own account alone; add organizational_units, the root's id for all accounts"
            ),
        ),
        (
            "[cleanup]\nresource_types = ['ebs-volumes']\n",
            "slackwater.toml:2: cleanup.resource_types[1]: no removable kind 'ebs-volumes'; did you mean ebs-volume?",
        ),
        (
            "[cleanup]\nresource_types = ['bucket']\n",
            (
                "slackwater.toml:2: cleanup.resource_types[1]: no removable kind 'bucket';"
                " there are ebs-volume, efs-file-system, fsx-file-system"
            ),
        ),
        (
            "[cleanup]\ndetectors = ['ebs-unatached']\n",
            "slackwater.toml:2: cleanup.detectors[1]: no detector 'ebs-unatached'; did you mean ebs-unattached?",
        ),
        ("[scan]\nregions : []\n", "slackwater.toml:2: not valid TOML: Expected '=' after a key in a key/value pair"),
        ("[scan]\n[scan]\n", "slackwater.toml:2: not valid TOML: Cannot declare ('scan',) twice"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line_and_the_remedy(text: str, message: str, policy_file) -> None:
    assert complaints(policy_file(text)) == [message]


@pytest.mark.parametrize(
    "text",
    [
        '\n[detectors."efs-idle"]\nquiet_days = -3\n',
        "\n[detectors]\nefs-idle.quiet_days = -3\n",
        "\n[detectors]\n'efs-idle' = { quiet_days = -3 }\n",
        '\n\ndetectors."efs-idle"."quiet_days" = -3\n',
        "\n[ detectors . efs-idle ] # on\n  quiet_days=-3\n",
    ],
)
def test_the_line_is_found_however_the_key_is_written(text: str, policy_file) -> None:
    (message,) = complaints(policy_file(text))

    assert message.startswith("slackwater.toml:3: detectors.efs-idle.quiet_days: must be")


@pytest.mark.parametrize(
    "value",
    [
        "[" * 20 + "]" * 20,
        "[" * 5_000 + "]" * 5_000,
        "{a=" * 5_000 + "1" + "}" * 5_000,
        f"{{{'.'.join('a' * 5_000)} = 1}}",
        "9" * 40,
        "[[9" + "9" * 5_000 + "]]",
    ],
    ids=[
        "lists",
        "lists-that-tomllib-cannot-read",
        "tables",
        "dotted-key",
        "integer",
        "integer-that-python-cannot-read",
    ],
)
def test_what_nests_too_deeply_or_is_too_large_has_a_line(value: str, policy_file) -> None:
    (message,) = complaints(policy_file(f"# mine\n[scan]\nregions = [\n]\ncalls_per_second = {value}\n[prices]\n"))

    assert message.startswith("slackwater.toml:5: ")


ROUTES = """
[slack]
channel = "C0123ABCDEF"

[[slack.routes]]
channel = "C0123ABCDEG"
owner = "ada"

[[slack.routes]]
chanel = "C0123ABCDEH"
detector = "efs-idel"
[[slack.routes]]
channel = "C0123ABCDEI"
"""


def test_a_mistake_in_a_route_is_reported_with_its_line(policy_file) -> None:
    assert complaints(policy_file(ROUTES)) == [
        "slackwater.toml:9: slack.routes[2]: channel is missing",
        "slackwater.toml:10: slack.routes[2].chanel: no such key; did you mean channel?",
        "slackwater.toml:11: slack.routes[2].detector: no detector 'efs-idel'; did you mean efs-idle?",
        (
            "slackwater.toml:12: slack.routes[3]: names neither owner, account nor detector:"
            " for everything else there is slack.channel"
        ),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("slack.routes = [{ channel = 'C0A', owner = 'a' },\n  { channel = 'C0B', owner = 1 }]\n", 1),
        ("[slack]\nroutes = [{ channel = 'C0A', owner = 'a' }, { channel = 'C0B', owner = 1 }]\n", 2),
        (
            (
                "[[ slack.routes ]] # one\nchannel = 'C0A'\nowner = 'a'\n[[slack . 'routes']]\nchannel = 'C0B'\n\n"
                "owner = 1\n"
            ),
            7,
        ),
        (
            (
                "[[slack.routes]]\nchannel = 'C0A'\nowner = 'a'\n[scan]\n[[slack.routes]]\nchannel = 'C0B'\n"
                "[slack.routes.owner]\n"
            ),
            7,
        ),
    ],
)
def test_a_route_has_its_line_however_it_is_written(text: str, line: int, policy_file) -> None:
    (message,) = complaints(policy_file(text))

    assert message.startswith(f"slackwater.toml:{line}: slack.routes[2].owner: must be a valid string, not ")


def test_what_only_looks_like_a_key_has_no_line(policy_file) -> None:
    text = (
        '[scan]\nregions = ["""\n[detectors.efs-idle]\nquiet_days = 1\n"""]\n\n[detectors.efs-idle]\nquiet_days = 2\n'
    )

    (message,) = complaints(policy_file(text))

    assert message.startswith("slackwater.toml:8:")


def test_tags_of_other_programs_are_keys_or_keys_with_a_value(policy_file) -> None:
    named = ["terraform", "ManagedBy=terraform", "pulumi:project", "kept-by="]
    policy = load_policy(policy_file(f"[owners]\nmanaged_tags = {named}\n"), registry())

    assert policy.owners.managed_tags == named
    assert policy.owners.tags[0] == "Owner"
    assert load_policy(None, registry()).owners.managed_tags == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('"terraform", ""', '[2]: "" is no tag; write a key, or key=value, without wildcards'),
        ('"ManagedBy=terra*"', '[1]: "ManagedBy=terra*" is no tag; write a key, or key=value, without wildcards'),
        ('"=terraform"', '[1]: "=terraform" is no tag; write a key, or key=value, without wildcards'),
        ('"terraform", 3', "[2]: must be a valid string, not 3"),
    ],
)
def test_an_invalid_managed_tag_is_reported_with_its_line(policy_file, text: str, says: str) -> None:
    assert complaints(policy_file(f"[scan]\nregions = []\n[owners]\nmanaged_tags = [{text}]\n")) == [
        f"slackwater.toml:4: owners.managed_tags{says}"
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('keep_tags = ["keep*"]', 'keep_tags[1]: "keep*" is no tag; write a key, or key=value, without wildcards'),
        (
            'keep_until_tags = ["until=2027-01-31"]',
            'keep_until_tags[1]: "until=2027-01-31" is no tag key; write a key, without a value or wildcards',
        ),
    ],
)
def test_a_tag_that_would_protect_nothing_is_reported(policy_file, line: str, says: str) -> None:
    assert complaints(policy_file(f"[exempt]\n{line}\n")) == [f"slackwater.toml:2: exempt.{says}"]


def test_the_schema_describes_managed_tags_for_editors() -> None:
    validator = Draft202012Validator(policy_schema(registry()))

    assert validator.is_valid({"owners": {"managed_tags": ["ManagedBy=terraform"]}})
    assert not validator.is_valid({"owners": {"managed_tags": ["*"]}})


def test_all_problems_are_reported_at_once_in_the_order_of_the_file(policy_file) -> None:
    path = policy_file("[detectors.efs-idel]\n[scan]\nregion = 1\n[detectors.efs-idle]\nquiet_days = 1\n")

    message = complaints(path, ("fsx-sink-export",))

    assert [line.split(" ")[0] for line in message] == [
        "--detector:",
        "slackwater.toml:1:",
        "slackwater.toml:3:",
        "slackwater.toml:5:",
    ]
    assert message[0] == "--detector: fsx-sink-export: no such detector; did you mean fsx-sync-export?"


def test_if_no_name_is_similar_all_names_are_listed(policy_file) -> None:
    (message,) = complaints(policy_file("[weather]\nwind = 1\n"))

    assert message.endswith(
        "no such section; there are api, cleanup, detectors, exempt, organization, owners, prices, scan, slack"
    )


def test_if_no_name_is_similar_and_there_are_many_the_command_that_lists_them_is_named(policy_file) -> None:
    path = policy_file('[scan]\nregions = ["atlantis"]\n')

    with pytest.raises(PolicyError, match="no region 'atlantis'; aws ec2 describe-regions --all-regions lists them"):
        check_regions(path, [f"eu-west-{n}" for n in range(20)])


@pytest.mark.parametrize(
    "text",
    ["scan = 1\nprices = []\ncleanup = 1", "[scan]\nregions = 7\n[prices]\noverrides = 1", "[scan]\nregions = [7]"],
)
def test_regions_of_a_file_that_is_wrong_in_any_other_way_are_looked_for_with_care(text: str, policy_file) -> None:
    path = policy_file(text)

    with pytest.raises(PolicyError) as caught:
        load_policy(path, registry(), regions=REGIONS)

    assert "no region" not in str(caught.value)


def test_a_region_alone_is_for_later_since_aws_may_have_a_new_one(policy_file) -> None:
    policy = load_policy(policy_file("[scan]\nregions = ['ap-planned-1']\n"), registry(), regions=REGIONS)

    assert policy.scan.regions == ["ap-planned-1"]


def test_a_file_that_is_not_there_or_not_text_says_so(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes("# für\n".encode("latin-1"))

    assert complaints(tmp_path / "none.toml") == ["none.toml: cannot be read: No such file or directory"]
    assert complaints(tmp_path)[0].endswith("cannot be read: Is a directory")
    assert complaints(latin) == ["latin.toml: is not UTF-8 text"]


def test_a_bom_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "slackwater.toml"
    path.write_text("[detectors.efs-idle]\nquiet_days = 60\n", encoding="utf-8-sig")

    assert load_policy(path, registry()).limits["efs-idle"] == registry()["efs-idle"].limits(quiet_days=60)


def test_an_unknown_region_is_refused_in_any_key(policy_file) -> None:
    path = policy_file(
        '[scan]\nregions = ["eu-west-1", "eu-wset-1"]\n[prices.overrides.us-esat-1]\n[cleanup]\nregions = ["tokyo-1"]\n'
    )

    with pytest.raises(PolicyError) as caught:
        check_regions(path, REGIONS)

    assert str(caught.value).replace(str(path), path.name).splitlines() == [
        "slackwater.toml:2: scan.regions: no region 'eu-wset-1'; did you mean eu-west-1?",
        "slackwater.toml:5: cleanup.regions: no region 'tokyo-1'; there are ap-northeast-1, eu-west-1, us-east-1",
        "slackwater.toml:3: prices.overrides.us-esat-1: no region 'us-esat-1'; did you mean us-east-1?",
    ]


def test_known_regions_pass(policy_file) -> None:
    path = policy_file('[scan]\nregions = ["eu-west-1"]\n')

    check_regions(path, REGIONS)


def test_the_schema_has_every_detector_and_refuses_what_the_loader_refuses() -> None:
    schema = policy_schema(registry())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)

    assert validator.is_valid({"detectors": {id_: {"enabled": False} for id_ in registry()}})
    assert validator.is_valid({"detectors": {"efs-idle": {"quiet_days": 60}}, "scan": {"regions": ["eu-west-1"]}})
    assert not validator.is_valid({"detectors": {"efs-idel": {}}})
    assert not validator.is_valid({"detectors": {"efs-idle": {"quiet_days": 1}}})
    assert validator.is_valid({"detectors": {"efs-abandoned": {"tag": "Job=encode"}}})
    assert not validator.is_valid({"detectors": {"efs-abandoned": {"tag": ""}}})
    assert not validator.is_valid({"scan": {"region": "eu-west-1"}})
    route = {"channel": "C0123", "detector": "efs-idle"}
    assert validator.is_valid({"slack": {"routes": [route]}})
    assert not validator.is_valid({"slack": {"routes": [route | {"detector": "efs-idel"}]}})
    assert validator.is_valid({"cleanup": {"detectors": ["efs-idle"], "resource_types": ["efs-file-system"]}})
    assert not validator.is_valid({"cleanup": {"detectors": ["efs-idel"]}})
    assert not validator.is_valid({"cleanup": {"resource_types": ["efs"]}})


def test_sections_have_the_types_of_the_policy_model_after_any_validation(policy_file) -> None:
    policy = load_policy(
        policy_file(ROUTES.partition("[[slack.routes]]\nchanel")[0] + '[cleanup]\ndetectors = ["efs-idle"]\n'),
        registry(),
    )

    assert policy.slack == SlackSection(channel="C0123ABCDEF", routes=[SlackRoute(channel="C0123ABCDEG", owner="ada")])
    assert policy.cleanup == CleanupSection(detectors=["efs-idle"])


def test_whatever_a_program_may_delete_is_of_a_kind_that_the_policy_can_name() -> None:
    kinds = {
        registry()[id_].resource.KIND
        for id_, _, verdict in flagged()
        if any(advice.deletes for advice in verdict.advice)
    }

    assert kinds
    assert kinds <= REMOVABLE


def doubtful(text: str) -> list[str]:
    """Return the warnings about a policy, except the one that nobody is notified, which has its own test."""
    policy = parse_policy(text, "mine.toml", registry())
    return [
        str(warning) for warning in find_warnings(text, "mine.toml", policy) if NOBODY_IS_WARNED not in str(warning)
    ]


OPS = "arn:aws:sts::123456789012:assumed-role/Ops"
CLEANUP = """
[cleanup]
accounts = ["123456789012"]
regions = ["eu-west-1"]
resource_types = ["ebs-volume"]
detectors = ["ebs-unattached"]
approvers = ["U0ADA"]
"""
WITH_SLACK = "[slack]\nchannel = 'C0123ABCDEF'\n"
"""Without it, nobody is notified of clean-ups."""


@pytest.mark.parametrize("key", ["accounts", "regions", "resource_types", "detectors", "approvers"])
def test_a_clean_up_that_one_empty_list_forbids_is_doubtful(key: str) -> None:
    text = "".join(line for line in CLEANUP.splitlines(keepends=True) if not line.startswith(key))

    lacks = "approvers or approver_identities" if key == "approvers" else key
    assert doubtful(text) == [f"mine.toml:2: cleanup: nobody can approve anything until you set {lacks}"]


def test_a_clean_up_of_all_lists_or_of_none_is_not_doubtful() -> None:
    assert doubtful(CLEANUP) == []
    assert doubtful("[cleanup]\napproval_days = 3\n") == []
    assert doubtful("") == []
    assert doubtful("[cleanup]\napprovers = ['U0ADA']\ndetectors = ['efs-idle']\n") == [
        "mine.toml:1: cleanup: nobody can approve anything until you set accounts, regions, resource_types"
    ]


def test_an_approver_by_identity_or_an_unattended_rule_is_enough() -> None:
    nobody = CLEANUP.replace('approvers = ["U0ADA"]\n', "")

    assert doubtful(f"{nobody}approver_identities = ['ada@example.com']\n") == []
    jobs = nobody.replace("ebs-unattached", "efs-abandoned").replace("ebs-volume", "efs-file-system")
    assert doubtful(jobs + JOBS) == [
        (
            "mine.toml:2: cleanup: Slackwater deletes without an approval, and nobody may undo that; "
            "set cleanup.approver_identities"
        )
    ]
    assert doubtful(f"{jobs}approver_identities = ['ada@example.com']\n{JOBS}") == []
    assert doubtful("[[cleanup.unattended]]\ntag = 'Job'\n[detectors.efs-abandoned]\ntag = 'Job'\n")[0] == (
        "mine.toml:1: cleanup: nobody can approve anything until you set accounts, regions, resource_types, detectors"
    )


@pytest.mark.parametrize(
    ("who", "says"),
    [
        (
            "arn:aws:iam::123456789012:role/team/Ops",
            (
                "never matches: STS reports the callers of a role by another ARN; "
                "write arn:aws:sts::123456789012:assumed-role/Ops"
            ),
        ),
        ("U0ADA", "is a Slack user id, which belongs elsewhere; list it in cleanup.approvers"),
        ("slack:U0ADA", "is a Slack user id, which belongs elsewhere; list it in cleanup.approvers"),
        (
            "storage-owners",
            (
                "is neither an ARN nor an e-mail address: it matches only a token's subject; for a role write"
                " arn:PARTITION:sts::ACCOUNT:assumed-role/storage-owners"
            ),
        ),
        (
            "arn:aws:sts::123456789012:assumed-role/Ops/*",
            "never matches: wildcards have no effect here",
        ),
    ],
)
def test_an_identity_that_never_asks_is_doubtful(who: str, says: str) -> None:
    named = ["arn:aws:sts::123456789012:assumed-role/Ops", "ada@example.com", who]

    assert doubtful(f"{CLEANUP}approver_identities = {named}\n") == [
        f"mine.toml:8: cleanup.approver_identities[3]: {says}"
    ]


def test_those_who_decide_and_audit_are_looked_at_in_the_same_way() -> None:
    text = '[api]\ndeciders = ["U0ADA"]\nauditors = ["ada@example.com", "slack:U0ADA"]\n'

    assert doubtful(text) == [
        "mine.toml:2: api.deciders[1]: is a Slack user id, which belongs elsewhere; list it in slack.deciders",
        "mine.toml:3: api.auditors[2]: is a Slack user id, which belongs elsewhere; list it in slack.auditors",
    ]


@pytest.mark.parametrize(
    ("session", "pinned", "says"),
    [
        (f"{OPS}/ada", True, None),
        (
            f"{OPS}/ada",
            False,
            "does not identify one person: anyone who can assume Ops chooses the session name; pin sts:RoleSessionName",
        ),
        (
            f"{OPS}/ada",
            None,
            "chooses the session name, unless its trust policy pins sts:RoleSessionName, which could not be read",
        ),
        (OPS, False, None),
        (f"{OPS.replace('Ops', 'AWSReservedSSO_Storage_0123456789abcdef')}/ada@example.com", False, None),
    ],
)
def test_a_session_that_anybody_may_call_theirs_is_doubtful(
    session: str, pinned: bool | None, says: str | None
) -> None:
    asked = []
    text = f'[api]\ndeciders = ["{session}"]\n'
    found = find_warnings(
        text, "mine.toml", parse_policy(text, "mine.toml", registry()), lambda *role: (asked.append(role), pinned)[1]
    )

    assert [says in str(one) for one in found] == ([True] if says else [])
    assert asked == ([("123456789012", "Ops")] if session == f"{OPS}/ada" else [])


def test_a_list_of_tags_without_the_default_is_doubtful() -> None:
    assert doubtful('[exempt]\nkeep_tags = ["Owner=web"]\n') == [
        (
            "mine.toml:2: exempt.keep_tags: resources tagged keep are not protected: the list replaces the default;"
            " to protect them, add keep"
        )
    ]
    assert doubtful('[exempt]\nkeep_tags = ["keep", "Owner=web"]\n') == []


def test_a_clean_up_that_slack_has_no_channel_for_is_doubtful() -> None:
    def message(text: str) -> list[str]:
        return [
            str(warning) for warning in find_warnings(text, "mine.toml", parse_policy(text, "mine.toml", registry()))
        ]

    assert message(CLEANUP) == [f"mine.toml:2: cleanup: {NOBODY_IS_WARNED}; set slack.channel"]
    assert message(CLEANUP + WITH_SLACK) == []
    assert message("[cleanup]\ngrace_days = 3\n") == []
    without = (
        "mine.toml:8: cleanup.delete_without_warning: deletes a resource without a warning if the policy sets no Slack "
        "channel for it"
    )
    allowed = f"{CLEANUP}delete_without_warning = true\n"
    assert message(allowed) == message(allowed + WITH_SLACK) == [without]


@pytest.mark.parametrize(
    ("changed", "by", "says"),
    [
        (
            "ebs-unattached",
            "ec2-idle",
            "detectors[1]: never applies: Slackwater cannot carry out this detector's recommendations",
        ),
        (
            "ebs-unattached",
            "efs-idle",
            "detectors[1]: never applies: cleanup.resource_types does not name efs-file-system",
        ),
        (
            "[cleanup]",
            "[detectors.ebs-unattached]\nenabled = false\n[cleanup]",
            "detectors[1]: never applies: detectors.ebs-unattached.enabled is false",
        ),
        (
            "[cleanup]",
            "[detectors.ebs-unattached]\nenabled = false\n[detectors.efs-idle]\nenabled = true\n[cleanup]",
            "detectors[1]: never applies: detectors.ebs-unattached.enabled is false",
        ),
        (
            "[cleanup]",
            "[scan]\nregions = ['us-east-1']\n[cleanup]",
            "regions[1]: is not scanned: scan.regions does not name it",
        ),
    ],
)
def test_what_a_clean_up_lists_to_no_effect_is_doubtful(changed: str, by: str, says: str) -> None:
    (message,) = doubtful(CLEANUP.replace(changed, by))

    assert message.partition("cleanup.")[2] == says


def test_a_region_that_is_scanned_too_is_not_doubtful() -> None:
    assert doubtful(CLEANUP.replace("[cleanup]", "[scan]\nregions = ['us-east-1', 'eu-west-1']\n[cleanup]")) == []


def test_cleanable_detectors_are_those_with_advice_that_a_program_may_carry_out() -> None:
    may = {id_ for id_, _, verdict in flagged() if any(one.deletes or one.setting for one in verdict.advice)}

    assert may | {"ebs-unattached"} == CLEANABLE  # all worked cases of ebs-unattached are too recent for a deletion


def test_a_warning_before_the_tagging_is_questioned_if_the_policy_sets_it() -> None:
    assert doubtful(f"{CLEANUP}grace_days = 7\n") == []
    assert doubtful(f"{CLEANUP}grace_days = 8\nwarn_days = [7, 1]\n") == []
    for days in (7, 8):
        assert doubtful(f"{CLEANUP}grace_days = 7\nwarn_days = [1, {days}]\n") == [
            "mine.toml:9: cleanup.warn_days[2]: never applies: the first warning is cleanup.grace_days (7) ahead"
        ]


def test_an_unattended_rule_without_a_matching_tag_never_applies() -> None:
    jobs = CLEANUP.replace("ebs-unattached", "efs-abandoned").replace("ebs-volume", "efs-file-system")
    (message,) = doubtful(jobs)
    assert message.endswith("never applies: detectors.efs-abandoned.tag is not set")
    assert doubtful(f"{jobs}[detectors.efs-abandoned]\ntag = 'Job'\n") == []


def test_a_rule_of_a_detector_that_is_off_says_so_and_not_that_its_tag_is_missing() -> None:
    jobs = CLEANUP.replace("ebs-unattached", "efs-abandoned").replace("ebs-volume", "efs-file-system")
    off = "[[cleanup.unattended]]\ntag = 'Job'\n[detectors.efs-abandoned]\ntag = 'Job'\nenabled = false\n"
    assert {one.partition("never applies: ")[2] for one in doubtful(jobs + off)} == {
        "detectors.efs-abandoned.enabled is false"
    }


JOBS = """
[[cleanup.unattended]]
tag = "Job"
[detectors.efs-abandoned]
tag = "Job"
"""


@pytest.mark.parametrize(
    ("rules", "of_jobs", "detectors", "says"),
    [
        (["Job"], "Job", "efs-idle", "[1]: never applies: cleanup.detectors does not name efs-abandoned"),
        (
            ["Job"],
            None,
            "efs-abandoned",
            "[1]: never applies: detectors.efs-abandoned.tag is not set, so it finds nothing",
        ),
        (
            ["Job", "Job=encode"],
            "Job",
            "efs-abandoned",
            "[2]: never applies: cleanup.unattended[1] already matches all that it matches",
        ),
        (
            ["Job=report"],
            "Job=encode",
            "efs-abandoned",
            "[1]: never applies: detectors.efs-abandoned.tag is Job=encode",
        ),
        (["Job=encode", "Job"], "Job", "efs-abandoned", None),
        (["Job"], "Job=encode", "efs-abandoned", None),
        (["Scratch=yes"], "Job=encode", "efs-abandoned", None),
    ],
)
def test_a_rule_for_what_needs_no_approval_that_never_applies_is_doubtful(rules, of_jobs, detectors, says) -> None:
    text = CLEANUP.replace("ebs-unattached", detectors).replace("ebs-volume", "efs-file-system")
    text += "".join(f"[[cleanup.unattended]]\ntag = '{tag}'\n" for tag in rules)
    text += f"[detectors.efs-abandoned]\ntag = '{of_jobs}'\n" if of_jobs else ""

    message = doubtful(text)

    assert [one.partition("cleanup.unattended")[2] for one in message] == ([says] if says else [])


@pytest.mark.parametrize("first", ["owner = 'ada'", "detector = 'efs-idle'", "owner = 'ada'\ndetector = 'efs-idle'"])
def test_a_route_that_an_earlier_one_leaves_nothing_to_is_doubtful(first: str) -> None:
    routes = ["owner = 'joe'", first, "owner = 'ada'\ndetector = 'efs-idle'"]
    text = "".join(f"[[slack.routes]]\nchannel = 'C0{n}0'\n{route}\n" for n, route in enumerate(routes))
    line = text[: text.rindex("[[")].count("\n") + 1

    assert doubtful(text) == [
        f"mine.toml:{line}: slack.routes[3]: never applies: slack.routes[2] already matches all that it matches"
    ]


@pytest.mark.parametrize(
    "first", ["owner = 'joe'", "detector = 'efs-orphaned'", "owner = 'ada'\naccount = '123456789012'"]
)
def test_a_route_that_something_is_left_to_is_not_doubtful(first: str) -> None:
    routes = [first, "owner = 'ada'\ndetector = 'efs-idle'", "owner = 'ada'"]

    assert doubtful("".join(f"[[slack.routes]]\nchannel = 'C0{n}0'\n{route}\n" for n, route in enumerate(routes))) == []


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ("", ["1: organization: lists no account, so Slackwater audits only its own"]),
        (
            "organizational_units = []",
            ["1: organization: lists no account, so Slackwater audits only its own"],
        ),
        (
            "accounts = ['444455556666']\ntags = { A = 'b' }",
            [
                "3: organization.tags: never applies: tags only filter organizational_units, not accounts",
            ],
        ),
        (
            "accounts = ['444455556666', '777788889999', '444455556666']",
            ["2: organization.accounts[3]: is listed twice"],
        ),
        ("organizational_units = ['r-ab12', 'r-ab12']", ["2: organization.organizational_units[2]: is listed twice"]),
        (
            (
                "organizational_units = ['r-ab12']\naccounts = ['444455556666']\n"
                "except_accounts = ['777788889999', '444455556666']"
            ),
            ["3: organization.accounts[1]: is not audited: organization.except_accounts lists it too"],
        ),
        (
            "accounts = ['444455556666', '777788889999']\nexcept_accounts = ['444455556666']",
            ["2: organization.accounts[1]: is not audited: organization.except_accounts lists it too"],
        ),
        (
            "accounts = ['444455556666']\nexcept_accounts = ['444455556666']",
            [
                "1: organization: leaves no account, so no audit starts: except_accounts lists all of accounts",
                "2: organization.accounts[1]: is not audited: organization.except_accounts lists it too",
            ],
        ),
    ],
)
def test_what_an_organization_names_to_no_effect_is_doubtful(section: str, says: list[str]) -> None:
    assert doubtful(f"[organization]\n{section}\n") == [f"mine.toml:{one}" for one in says]


@pytest.mark.parametrize(
    "section",
    [
        "organizational_units = ['r-ab12']\ntags = { A = 'b' }\nexcept_accounts = ['444455556666']",
        "organizational_units = ['ou-ab12-34cd56ef']\naccounts = ['444455556666']\ntags = { A = 'b' }",
        "accounts = ['444455556666', '777788889999']",
    ],
)
def test_an_organization_that_is_meant_is_not_doubtful(section: str) -> None:
    assert doubtful(f"[organization]\n{section}\n") == []


def test_a_rate_limit_above_that_of_aws_is_questioned() -> None:
    message = "is above the AWS limit of {} a second in an account and region: AWS would throttle the calls"

    assert (
        doubtful("[scan]\ncalls_per_second = { cloudtrail = 2, cloudwatch = 500 }\ndatapoints_per_second = 396_000\n")
        == []
    )
    assert doubtful("[scan.calls_per_second]\nec2 = 1000\ncloudtrail = 2.1\ncloudwatch = 501\n") == [
        f"mine.toml:3: scan.calls_per_second.cloudtrail: {message.format(2)}",
        f"mine.toml:4: scan.calls_per_second.cloudwatch: {message.format(500)}",
    ]
    assert doubtful("[scan]\ndatapoints_per_second = 396_001\n") == [
        f"mine.toml:2: scan.datapoints_per_second: {message.format('396,000')}"
    ]
    assert doubtful("[scan]\nmost_metrics_usd = 50\n") == []
    assert doubtful("[scan]\nmost_metrics_usd = 100\n") == [
        (
            "mine.toml:2: scan.most_metrics_usd: is above scan.most_metrics_usd_per_day (50 USD), which applies first;"
            " raise the daily limit too"
        )
    ]
