"""Settings from the environment, or from the outputs of the stack."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class NotDeployedError(Exception):
    """Something from the template is missing: an environment variable of a function, or an output of its stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentSettings:
    """The settings that the template passes to its functions.

    Without a secret there is no Slack. Without the state machines of clean-up and undo there is no clean-up.
    """

    table_name: str
    bucket_name: str
    retention_days: int
    state_machine_arn: str | None
    event_bus_name: str | None
    slack_secret_arn: str | None = None
    slack_api_url: str | None = None
    answer_function_name: str | None = None
    cleanup_enabled: bool = False
    cleanup_state_machine_arn: str | None = None
    undo_state_machine_arn: str | None = None
    delete_role_arn: str | None = None
    backup_role_arn: str | None = None
    backup_vault_name: str | None = None
    installation_id: str | None = None
    member_role_name: str | None = None
    member_external_id: str | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "DeploymentSettings":
        """Create the settings from environment variables. Most functions have only some. An empty one counts as unset.

        Raises:
            NotDeployedError: TABLE_NAME, BUCKET_NAME or RETENTION_DAYS is missing.
        """
        try:
            return cls(
                table_name=environment["TABLE_NAME"],
                bucket_name=environment["BUCKET_NAME"],
                retention_days=int(environment["RETENTION_DAYS"]),
                state_machine_arn=environment.get("STATE_MACHINE_ARN"),
                event_bus_name=environment.get("EVENT_BUS_NAME"),
                slack_secret_arn=environment.get("SLACK_SECRET_ARN") or None,
                slack_api_url=environment.get("SLACK_API_URL") or None,
                answer_function_name=environment.get("ANSWER_FUNCTION_NAME") or None,
                cleanup_enabled=environment.get("CLEANUP_ENABLED") == "true",
                cleanup_state_machine_arn=environment.get("CLEANUP_STATE_MACHINE_ARN") or None,
                undo_state_machine_arn=environment.get("UNDO_STATE_MACHINE_ARN") or None,
                delete_role_arn=environment.get("DELETE_ROLE_ARN") or None,
                backup_role_arn=environment.get("BACKUP_ROLE_ARN") or None,
                backup_vault_name=environment.get("BACKUP_VAULT_NAME") or None,
                installation_id=environment.get("INSTALLATION_ID") or None,
                member_role_name=environment.get("MEMBER_ROLE_NAME") or None,
                member_external_id=environment.get("MEMBER_EXTERNAL_ID") or None,
            )
        except KeyError as error:
            raise NotDeployedError(
                f"The environment lacks {error}: template.yaml sets it for every function"
            ) from error

    @classmethod
    def of_stack(cls, outputs: Mapping[str, str]) -> "DeploymentSettings":
        """Create the settings from the outputs of the template's stack.

        Raises:
            NotDeployedError: An output is missing. The stack is from another template, or not finished.
        """
        try:
            return cls(
                table_name=outputs["TableName"],
                bucket_name=outputs["BucketName"],
                retention_days=int(outputs["RetentionDays"]),
                state_machine_arn=outputs["StateMachineArn"],
                event_bus_name=None,
                slack_secret_arn=outputs.get("SlackSecretArn"),
                cleanup_state_machine_arn=outputs.get("CleanupStateMachineArn"),
                undo_state_machine_arn=outputs.get("UndoStateMachineArn"),
                installation_id=outputs.get("InstallationId"),
            )
        except KeyError as error:
            raise NotDeployedError(f"The stack has no output {error}") from error


def cache_dir(environment: Mapping[str, str]) -> Path | None:
    """Return the folder that keeps prices between scans; None if no variable names a folder for it.

    It is below the first of XDG_CACHE_HOME, `~/.cache` and LOCALAPPDATA that is set. Relative paths are ignored, as the
    XDG Base Directory Specification requires.
    """
    for variable, below in (
        ("XDG_CACHE_HOME", "slackwater"),
        ("HOME", ".cache/slackwater"),
        ("LOCALAPPDATA", "slackwater"),
    ):
        if (base := Path(environment.get(variable) or "")).is_absolute():
            return base / below
    return None
