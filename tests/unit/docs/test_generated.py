"""The pages and pictures that `make docs` generates from the code."""

import deployment_parameters
import policy_reference
import terminal_picture
from slackwater.app.policy.file import policy_schema
from slackwater.engine.registry import registry


def test_the_reference_of_the_policy_has_every_detector_and_range() -> None:
    page = policy_reference.page(policy_schema(registry()))

    assert [id_ for id_ in registry() if f"## detectors.{id_}\n" not in page] == []
    assert "| `discount_percent` | `0` | \u2265 0, < 100 | Discount on every list price, in percent. |" in page


def test_the_terminal_is_drawn_with_its_colours_and_the_same_way_each_time() -> None:
    printed = "\x1b[31mhigh\x1b[0m $1,820 a month"

    assert terminal_picture.drawn(printed) == terminal_picture.drawn(printed)
    assert ">high<" in terminal_picture.drawn(printed)
    assert terminal_picture.drawn("high $1,820 a month") != terminal_picture.drawn(printed)


def test_the_reference_of_parameters_has_defaults_and_ranges_of_both_templates() -> None:
    page = deployment_parameters.page()

    assert "| `RetentionDays` | `400` | 7 to 3,650 | Days to keep audits and their scan documents. " in page
    assert "| `AlarmEmail` | empty |  | The email address for alarms. " in page
    assert "| `AuditorAccountId` | required | Twelve digits. | " in page
    for name in deployment_parameters.TEMPLATES:
        assert f": {name}\n" in page
