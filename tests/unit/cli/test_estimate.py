"""`slackwater estimate`."""

import io
import json
import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pytest
from pydantic import Field, model_validator
from rich.console import Console
from tests.unit.cli.test_untrusted_text import UNTRUSTED

from slackwater.app.estimates import estimates as use_case
from slackwater.engine import registry
from slackwater.engine.registry import estimates
from slackwater.model.estimates import Answer, Estimate, Figure, InputError, Inputs, Known, Result, Usd, of
from slackwater.model.money import ebs_storage
from slackwater.model.quantities import Duration, Rate, Size
from slackwater.views.estimates.to_json import document
from slackwater.views.scan.to_json import dump
from slackwater.wiring.scan import estimating
from slackwater_cli.estimate_table import draw_estimate
from slackwater_cli.targets import regions_without_asking

TOKYO = ("--region", "ap-northeast-1")
TRANSFER = ("estimate", "network-transfer", "--instance-type", "t3.micro", "--bytes", "1TB", "--region", "us-east-1")


type Way = Literal["slow", "fast"]


class Asked(Inputs):
    """One input of each type."""

    what: str = Field(description="What it is about")
    size: Size | None = Field(default=None, description="How much")
    rate: Rate = Field(default="1MB/s", description="How fast")  # type: ignore[assignment]
    hours: Duration | float = Field(default=1.5, description="How long")
    io_size: Size = Field(default="1MiB", description="In steps of")  # type: ignore[assignment]
    mode: Way = Field(default="slow", description="Which way")
    volume: Literal["gp3"] | None = Field(default=None, description="On which")
    workers: int = Field(default=1, ge=0, description="At once")
    share: float = Field(default=1.0, le=1, description="Which part")
    multi_az: bool = Field(default=False, description="In several zones")
    billed: bool = Field(default=True, description="Paid for")
    families: list[Annotated[str, Field(pattern="^[a-z0-9]+$")]] = Field(default=[], description="Of these")
    usage_csv: str | None = Field(default=None, description="A table", json_schema_extra={"file": True})

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.what == "nonsense":
            raise ValueError("no sense in it")
        return self


class Row(Result):
    """A row of a list."""

    name: str = of("Name")
    workers: int | None = of("Workers", null="any")
    seconds: Figure | None = of("Time that it takes", "s")
    monthly_usd: Usd | None = of("Price", "USD/month")
    why: str = of("Why not")


class Part(Result):
    """A nested result."""

    fits: bool = of("Fits")
    rows: list[Row] = of("All of them")


class Side(Result):
    """One of two sides."""

    monthly_usd: Usd | None = of("Price", "USD/month")
    why_not: str | None = of("Why not", null="")
    not_asked: Figure | None = of("Not asked", "h", null="")


class Sides(Result):
    """Two results of the same type to compare."""

    left: Side = of("Left")
    right: Side = of("Right")


class EveryKind(Result):
    """One figure of each type."""

    rate: Figure = of("Speed", "MB/s")
    seconds: Figure = of("Time", "s")
    instant_seconds: Figure = of("First byte", "s")
    span: tuple[Figure, Figure] | None = of("Between", "s")
    no_span: tuple[Figure, Figure] | None = of("Not measured", "s")
    footage_hours: Figure = of("Footage", "h")
    billed_hours: Figure = of("Billed", "h")
    stored_bytes: int = of("Credits", "bytes")
    files: int = of("Files")
    usd: Usd = of("Costs", "USD")
    no_usd: Usd | None = of("Costs there", "USD/hour")
    fits: bool = of("Fits")
    why_not: str | None = of("Why not", null="nothing is wrong")
    not_asked: Figure | None = of("Not asked", "h", null="")
    message: str = of("Said")
    warnings: list[str] = of("Mind")
    nobody: list[Row] = of("None of these")
    part: Part = of("Within")
    sides: Sides = of("Beside")


NAME = "a-name-that-is-on-one-line-1"
WORD = 60 * "w"
LONG = (
    "because this is a long_and_unbreakable_word, which goes on for as long as it takes to fill several lines of a list"
)


def work(inputs: Asked, known: Known) -> Answer[EveryKind]:
    """Return a result with every figure."""
    if inputs.what == "refused":
        raise InputError("io_size", "too much of it")
    known.price(ebs_storage("gp3"))
    is_long = inputs.what == "long"
    rows = [
        Row(name="one", workers=1, seconds=1, monthly_usd=Decimal("1234.5"), why=""),
        Row(name=NAME if is_long else "two", workers=None, seconds=4000, monthly_usd=None, why=LONG if is_long else ""),
        Row(name="third", workers=16, seconds=None, monthly_usd=Decimal("0.005244"), why=""),
    ]
    parsed = EveryKind(
        rate=1234.5,
        seconds=3763.15,
        instant_seconds=1.5,
        span=(60.0, 7200.0),
        no_span=None,
        footage_hours=19.3333333,
        billed_hours=5.0,
        stored_bytes=2_308_974_418_330,
        files=40_000,
        usd=Decimal("1189.1"),
        no_usd=None,
        fits=True,
        why_not=None,
        not_asked=None,
        message=inputs.what,
        warnings=["first", WORD if is_long else "second"],
        nobody=[],
        part=Part(fits=False, rows=rows * (20 if inputs.what == "many" else 1)),
        sides=Sides(
            left=Side(monthly_usd=Decimal(12), why_not=None, not_asked=None),
            right=Side(monthly_usd=None, why_not="too dear", not_asked=None),
        ),
    )
    return Answer(
        summary=f"It takes 1 h of {inputs.what}.", result=parsed, assumptions=("assumed: nothing",), sources=("A book",)
    )


EVERYTHING = Estimate(title="What everything comes to", inputs=Asked, result=EveryKind, work=work)


@pytest.fixture
def everything(run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that runs an estimate with every type of input and figure, without AWS."""
    for module in (use_case, registry):
        monkeypatch.setattr(module, "estimates", lambda: {"every-thing": EVERYTHING})
    return partial(run, "estimate", "every-thing", "--offline", *TOKYO)


def test_the_kinds_are_listed_with_their_titles(run) -> None:
    for done in (run("estimate"), run("estimate", "--help")):
        message = " ".join((done.out + done.err).split())
        for kind, one in estimates().items():
            assert f"{kind} {one.title}" in message


def test_the_kinds_are_those_of_the_registry(everything, run) -> None:
    assert "every-thing  What everything comes to\n" in run("estimate", "--help").out


def test_an_unknown_kind_is_refused_with_the_nearest(run) -> None:
    done = run("estimate", "network-transfr", "--bytes", "1TB")

    assert (done.status, done.out, done.err) == (
        2,
        "",
        "Error: no estimate 'network-transfr'; did you mean network-transfer?\n",
    )


@pytest.mark.parametrize("kind", [*estimates()])
def test_every_input_of_every_kind_is_an_option_with_its_description(kind: str, run) -> None:
    done = run("estimate", kind, "--help")

    assert done.status == 0
    assert "\n  Exit status:\n  0 " in done.out
    for name, field in estimates()[kind].inputs.model_fields.items():
        assert re.search(rf"^  --{name.replace('_', '-')}\b", done.out, re.MULTILINE)
        assert "".join(field.description.split()) in "".join(done.out.split())


def test_help_shows_types_and_defaults_the_common_options_last(everything) -> None:
    message = " ".join(everything("--help").out.split())

    wanted = [
        "What everything comes to. ",
        "--what NAME What it is about. [required]",
        "--size SIZE How much. --rate",
        "--rate RATE How fast. [default: 1MB/s]",
        "--hours DURATION|N How long. [default: 1.5]",
        "--io-size SIZE In steps of. [default: 1MiB]",
        "--mode slow|fast Which way. [default: slow]",
        "--volume gp3 On which. --workers",
        "--workers N At once. [default: 1]",
        "--share N Which part. [default: 1.0]",
        "--multi-az In several zones. --billed",
        "--billed / --no-billed Paid for. --families",
        "--families NAMES Of these. --usage-csv",
        "--usage-csv FILE A table. --region",
        "--region NAME",
        "--hours-per-month N",
        "--format table|json",
        "--offline",
        "--profile P",
    ]
    assert sorted(wanted, key=message.index) == wanted


def test_inputs_are_passed_on_as_they_were_typed(everything, nowhere: Path) -> None:
    (nowhere / "usage.csv").write_bytes("\ufeffminute,GiB\r\n0,1\r\n".encode())
    arguments = {
        "what": "films",
        "size": "30.12GB",
        "rate": "147Mbps",
        "hours": "59min",
        "io-size": "256KiB",
        "mode": "fast",
        "volume": "gp3",
        "workers": "8",
        "share": "0.5",
        "usage-csv": "usage.csv",
        "hours-per-month": "720",
    }
    words = [word for name, value in arguments.items() for word in (f"--{name}", value)]

    done = everything(
        *words, "--multi-az", "--no-billed", "--families", "t3, m6i", "--families", "c6gn", "--format", "json"
    )

    assert json.loads(done.out)["inputs"] == {
        "what": "films",
        "size": "30.12GB",
        "rate": "147Mbps",
        "hours": "59min",
        "io_size": "256KiB",
        "mode": "fast",
        "volume": "gp3",
        "workers": 8,
        "share": 0.5,
        "multi_az": True,
        "billed": False,
        "families": ["t3", "m6i", "c6gn"],
        "usage_csv": "minute,GiB\r\n0,1\r\n",
        "region": "ap-northeast-1",
        "hours_per_month": 720,
    }


def test_what_is_not_typed_is_the_models_business(everything) -> None:
    parsed = json.loads(everything("--what", "films", "--format", "json").out)["inputs"]

    expected = {name: field.default for name, field in Asked.model_fields.items() if not field.is_required()}
    assert parsed == expected | {"what": "films", "region": "ap-northeast-1"}


def test_every_input_that_is_wrong_is_named_by_its_option(everything) -> None:
    done = everything(
        *("--size", "-5GiB", "--rate", "100", "--io-size", "1Mib", "--mode", "fats", "--workers", "many"),
        *("--share", "1.5", "--families", "t3,,m6i", "--hours-per-month", "1e9"),
    )

    assert (done.status, done.out) == (2, "")
    assert {line.removeprefix("Error: ").partition(":")[0] for line in done.err.splitlines()} >= {
        "--what is needed",
        "--size",
        "--rate",
        "--io-size",
        "--mode",
        "--workers",
        "--share",
        "--families",
        "--hours-per-month",
    }
    for line in (
        "--size: '-5GiB': a size cannot be negative",
        "--io-size: '1Mib': no unit 'Mib' of a size; did you mean MiB?",
        "--mode: 'fats': did you mean fast?",
        "--workers: 'many': a whole number is needed, such as 40000",
    ):
        assert line in done.err
    assert "--rate: '100': a rate needs a unit: 100B/s," in done.err


@pytest.mark.parametrize("words", ["1.5", "1_000", "٣", "0x10", "nan", "", "9" * 400])
def test_what_is_no_whole_number_is_not_taken_for_one(words: str, everything) -> None:
    done = everything("--what", "films", "--workers", words)

    assert done.status == 2
    assert done.err.startswith("Error: --workers: ")


def test_what_only_the_work_can_refuse_is_named_by_its_option_too(everything) -> None:
    done = everything("--what", "refused")

    assert (done.status, done.out, done.err) == (2, "", "Error: --io-size: too much of it\n")


def test_what_is_wrong_with_all_of_them_has_no_option(everything) -> None:
    assert everything("--what", "nonsense").err == "Error: no sense in it\n"


def test_a_file_may_be_standard_input(everything, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("0,1\n1,2 €\n".encode()), "ascii"))

    done = everything("--what", "films", "--usage-csv", "-", "--format", "json")

    assert json.loads(done.out)["inputs"]["usage_csv"] == "0,1\n1,2 €\n"


def test_a_file_that_cannot_be_read_is_named(everything, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (nowhere / "binary").write_bytes(b"0,1\n\xff")
    monkeypatch.setattr("sys.stdin", None)

    done = [everything("--what", "films", "--usage-csv", file) for file in ("gone.csv", ".", "binary", "-")]

    assert [(one.status, one.out, one.err) for one in done] == [
        (2, "", "Error: --usage-csv gone.csv: cannot be read: No such file or directory\n"),
        (2, "", "Error: --usage-csv .: cannot be read: Is a directory\n"),
        (2, "", "Error: --usage-csv binary: is not UTF-8 at byte 4\n"),
        (2, "", "Error: --usage-csv -: standard input is closed\n"),
    ]


def test_the_table_begins_with_the_answer_and_ends_with_what_it_rests_on(everything, nowhere: Path) -> None:
    (nowhere / "usage.csv").write_text("0,1\n1,2\n")

    done = everything("--what", "films", "--usage-csv", "usage.csv", "--workers", "0")

    assert done.status == 0
    before, _, rest = done.out.partition("Prices\n")
    prices, _, inputs = rest.partition("Inputs\n")
    assert re.match(r"  Item +USD  Unit       Source +As of\n  ebs.gp3.storage  0\.\d+  GiB-month  snapshot: ", prices)
    assert before == (
        "It takes 1 h of films.\n"
        "\n"
        "Speed          1,234 MB/s\n"
        "Time           3,763 s (1 h 3 min)\n"
        "First byte     1.5 s\n"
        "Between        60 to 7,200 s (1 min to 2 h)\n"
        "Not measured   unknown\n"
        "Footage        19.33 h (19 h 20 min)\n"
        "Billed         5 h\n"
        "Credits        2,308,974,418,330 bytes (2.1 TiB)\n"
        "Files          40,000\n"
        "Costs          1,189.10 USD\n"
        "Costs there    price unknown\n"
        "Fits           yes\n"
        "Why not        nothing is wrong\n"
        "Said           films\n"
        "Mind           - first\n"
        "               - second\n"
        "None of these  none\n"
        "\n"
        "Within\n"
        "  Fits  no\n"
        "  All of them\n"
        "    Name   Workers  Time that it takes  Price, USD/month  Why not\n"
        "    one          1                 1 s          1,234.50\n"
        "    two        any           1 h 7 min     price unknown\n"
        "    third       16             unknown          0.005244\n"
        "\n"
        "Beside\n"
        "           Left             Right\n"
        "  Price    12.00 USD/month  price unknown\n"
        "  Why not  -                too dear\n"
        "\n"
        "Assumptions\n"
        "  - assumed: nothing\n"
        "Sources\n"
        "  - A book\n"
    )
    assert inputs == (
        "  --what             films\n"
        "  --workers          0\n"
        "  --usage-csv        2 lines\n"
        "  --region           ap-northeast-1\n"
        "  --hours-per-month  730 (default)\n"
        "  --rate             1MB/s (default)\n"
        "  --hours            1.5 (default)\n"
        "  --io-size          1MiB (default)\n"
        "  --mode             slow (default)\n"
        "  --share            1.0 (default)\n"
        "  --billed           yes (default)\n"
    )


def test_json_is_the_document_of_the_api(run) -> None:
    done = run(*TRANSFER, "--offline", "--format", "json")

    message = {"instance_type": "t3.micro", "bytes": "1TB", "region": "us-east-1"}
    one = estimating(None, None, "us-east-1", regions_without_asking()).answer("network-transfer", message)
    assert done.status == 0
    assert done.out == dump(document(one))
    assert json.loads(done.out)["schema"] == "slackwater.estimate/1"


def test_a_list_that_is_too_wide_breaks_its_texts_and_loses_nothing(everything) -> None:
    lines = everything("--what", "long").out.splitlines()

    head = next(n for n, line in enumerate(lines) if "Why not" in line and "Name" in line)
    block = lines[head + 1 : lines.index("Beside") - 1]
    why = next(line.index("because") for line in block if "because" in line)
    assert max(map(len, lines)) <= 100
    assert len(block) > 3
    assert " ".join(line[why:].strip() for line in block).split() == LONG.split()
    assert [line.split()[0] for line in block if line[4:5].strip()] == ["one", NAME, "third"]
    assert "".join(lines).replace(" ", "").count(WORD) == 1


def test_a_narrow_terminal_loses_nothing_either(everything) -> None:
    one = estimating(None, None, "ap-northeast-1", ["ap-northeast-1"]).answer("every-thing", {"what": "long"})

    narrow, wide = (io.StringIO() for _ in range(2))
    for file, width in ((narrow, 40), (wide, 200)):
        draw_estimate(one, {"what"}, Console(file=file, width=width))

    assert Counter("".join(narrow.getvalue().split())) == Counter("".join(wide.getvalue().split()))


def test_a_long_list_is_shown_in_full(everything) -> None:
    out = everything("--what", "many").out

    assert out.count("\n    two ") == 20
    assert out.count("price unknown\n") == 22


def test_output_to_a_file_is_plain_and_at_most_100_columns_wide(run) -> None:
    done = run(*TRANSFER, "--offline")

    assert done.out.startswith("t3.micro sustains 8 MB/s, ")
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) <= 100
    assert not [line for line in done.out.splitlines() if line != line.rstrip()]
    for line in (
        "Instance type  Sustains it  Baseline rate, MB/s  Peak rate, MB/s  Cost, USD/hour",
        "Assumptions",
        "  --bytes            1TB",
    ):
        assert f"{line}\n" in done.out


def test_a_terminal_gets_the_answer_in_bold_and_what_was_not_typed_dimmed(everything) -> None:
    one = estimating(None, None, "ap-northeast-1", ["ap-northeast-1"]).answer("every-thing", {"what": "films"})
    file = io.StringIO()

    draw_estimate(
        one, {"what"}, Console(file=file, width=100, force_terminal=True, color_system="standard", highlight=False)
    )

    assert file.getvalue().startswith("\x1b[1mIt takes 1 h of films.\x1b[0m\n")
    assert "\x1b[1mWithin" in file.getvalue()
    assert "\x1b[2m1MiB (default)" in file.getvalue()
    assert "\x1b[2mfilms" not in file.getvalue()


@pytest.mark.parametrize("words", [UNTRUSTED, UNTRUSTED.replace("\n", "")])
def test_untrusted_text_cannot_control_the_terminal_or_look_like_a_line_of_slackwater(words: str, everything) -> None:
    out = everything("--what", words).out

    assert "\x1b" not in out
    assert "\u202e" not in out
    assert not [line for line in out.splitlines() if line.strip().startswith("FORGED")]
    assert out.count("[bold]") == (2 if "\n" in words else 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--instance-type", "t3.mirco", "--bytes", "1TB"),
            "--instance-type: no instance type 't3.mirco'; did you mean t3.micro?",
        ),
        (
            ("--instance-type", "t3.micro", "--families", "c6gnn"),
            "--families: no instance family 'c6gnn'; did you mean c6gn?",
        ),
        (
            ("--instance-type", "t3.micro", "--region", "us-est-1"),
            "--region: no region 'us-est-1'; did you mean us-east-1?",
        ),
        (("--bytes", "1TB"), "--instance-type is needed: type of the instance that transfers the data"),
        (
            ("--instance-type", "t3.micro", "--needed-rate", "100Mb/s"),
            "--needed-rate: '100Mb/s': no unit 'Mb/s' of a rate; Mbps are bits, MB/s bytes",
        ),
        (("--instance-type",), "Option '--instance-type' requires an argument."),
        (("--instance-type", "t3.micro", "--byte", "1TB"), "No such option: --byte"),
    ],
)
def test_a_mistake_is_named_with_what_would_do(words: tuple[str, ...], message: str, run) -> None:
    done = run("estimate", "network-transfer", "--offline", *words)

    assert (done.status, done.out) == (2, "")
    assert done.err.removeprefix("Error: ").startswith(message)
    assert done.err.count("\n") == 1


def test_the_options_to_give_are_named_as_options(run) -> None:
    done = run("estimate", "efs-credits", "--offline", "--stored", "1TiB")

    options = "--input, --input-rate, --write-per-day, --read-per-day or --metered-rate"
    assert done.err == f"Error: --input: nothing uses credits: give {options}\n"


def test_no_line_of_the_help_is_wider_than_a_terminal(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    assert max(map(len, run("estimate", "efs-credits", "--help").out.splitlines())) <= 80


def test_the_source_of_a_region_that_was_not_typed_is_shown(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-nowhere-1")

    done = run("estimate", "network-transfer", "--instance-type", "t3.micro")

    assert (done.status, done.out) == (2, "")
    assert done.err == "Error: AWS_REGION or the profile: no region 'eu-nowhere-1'; did you mean eu-north-1?\n"


@pytest.mark.parametrize(
    ("variable", "region"), [("us-west-2", "us-west-2"), ("ap-northeast-1", "ap-northeast-1"), (None, "us-east-1")]
)
def test_the_region_is_the_configured_one_or_reported_as_missing(
    variable: str | None, region: str, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable:
        monkeypatch.setenv("AWS_REGION", variable)

    done = run("estimate", "network-transfer", "--instance-type", "t3.micro", "--offline", "--format", "json")

    assert json.loads(done.out)["inputs"]["region"] == region
    assert ("No region is configured. This estimate is for us-east-1; choose another with --region\n" in done.err) == (
        variable is None
    )


def test_without_credentials_one_note_names_the_packaged_data_and_its_date(run) -> None:
    done = run(*TRANSFER)

    assert done.status == 0
    assert re.fullmatch(
        r"No AWS credentials; packaged instance limits of \d{4}-\d\d-\d\d"
        r" and prices of \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d are used\n",
        done.err,
    )
    for date in re.findall(r"\d{4}-\d\d-\d\d", done.err):
        assert date in done.out


def test_a_region_without_packaged_prices_is_reported(run) -> None:
    done = run(*TRANSFER[:-1], "eu-west-1", "--offline")

    assert done.status == 0
    message, unknown = done.err.splitlines()
    assert re.fullmatch(r"Offline; packaged instance limits of \d{4}-\d\d-\d\d are used", message)
    assert unknown.startswith(
        "No price is known in eu-west-1 (packaged prices: ap-northeast-1 and us-east-1): ec2.m6i."
    )
    assert unknown.endswith(". To read prices from AWS, use credentials and no --offline")
    assert "price unknown" in done.out


def test_a_missing_price_is_named_where_others_are_known(run) -> None:
    done = run("estimate", "network-transfer", "--instance-type", "m5.large", *TOKYO, "--offline")

    assert "No price is known in ap-northeast-1: ec2.m5." in done.err


def test_no_instance_limits_are_spoken_of_where_none_were_asked(run) -> None:
    done = run("estimate", "efs-vs-ebs", "--used", "30GiB", *TOKYO, "--offline")

    assert re.fullmatch(r"Offline; packaged prices of \S+ to \S+ are used\n", done.err)


def test_offline_asks_nobody(run, account) -> None:
    done = run(*TRANSFER, "--offline", "--format", "json")

    assert done.status == 0
    assert account.calls == {}
    assert {one["source"].partition(":")[0] for one in json.loads(done.out)["price_basis"]} == {"snapshot"}


def test_offline_looks_for_no_credentials(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("botocore.session.Session.get_credentials", refuse)

    assert run(*TRANSFER, "--offline").status == 0


def test_an_account_is_asked_for_its_prices_and_instance_types(run, account) -> None:
    done = run(*TRANSFER, "--format", "json")
    parsed = json.loads(done.out)

    assert (done.status, done.err) == (0, "")
    assert {*account.calls} == {"pricing:GetProducts", "ec2:DescribeInstanceTypes"}
    assert parsed["gaps"] == []
    assert "t3.micro: ec2:DescribeInstanceTypes" in parsed["sources"]
    assert {one["source"].partition(",")[0] for one in parsed["price_basis"]} == {"AWS Price List"}


@pytest.mark.parametrize(
    ("action", "packaged", "message"),
    [
        ("pricing:GetProducts", "snapshot: ", "prices"),
        ("ec2:DescribeInstanceTypes", "t3.micro: snapshot ", "instance limits"),
    ],
)
def test_denied_reads_are_reported_and_packaged_figures_are_used(
    action: str, packaged: str, message: str, run, account
) -> None:
    account.faults.deny(action)

    done = run(*TRANSFER, "--format", "json")

    parsed = json.loads(done.out)
    rests_on = [*parsed["sources"], *(one["source"] for one in parsed["price_basis"])]
    assert done.status == 0
    assert [gap["what"] for gap in parsed["gaps"]] == [action]
    assert any(source.startswith(packaged) for source in rests_on)
    why, used, *_ = done.err.splitlines()
    assert why == f"Not read from AWS: {action}: {parsed['gaps'][0]['reason']}"
    assert re.fullmatch(rf"Packaged {message} of \d.* are used", used)
    assert parsed["result"]["instance_types"][0]["hourly_usd"] is not None


def test_a_profile_that_is_named_must_be_there(run, nowhere: Path) -> None:
    done = run(*TRANSFER, "--profile", "nobody")

    assert (done.status, done.out) == (4, "")
    assert "nobody" in done.err


def test_a_profile_has_a_region_offline_too(run, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(nowhere / "config"))
    (nowhere / "config").write_text("[profile tide]\nregion = sa-east-1\n")

    done = run(*TRANSFER[:-2], "--profile", "tide", "--offline", "--format", "json")

    assert json.loads(done.out)["inputs"]["region"] == "sa-east-1"


def test_a_broken_default_configuration_is_reported_and_does_not_stop_the_estimate(
    run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")

    done = run(*TRANSFER)

    assert done.status == 0
    assert "nobody" in done.err
    assert "packaged instance limits" in done.err
