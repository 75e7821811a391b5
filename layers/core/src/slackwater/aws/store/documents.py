"""Stores texts in a versioned S3 bucket."""

from __future__ import annotations

from operator import itemgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import remedies
from slackwater.model.formats import FORMAT, current, refusal
from slackwater.ports.errors import BrokenAnswerError, FormatError
from slackwater.ports.store import Version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mypy_boto3_s3 import S3Client

    from slackwater.aws.client.session import AwsSession

READ: Final = frozenset({"s3:GetObject", "s3:ListBucket"})
"""Without ListBucket, S3 returns "access denied" for a key that does not exist."""
READ_VERSION: Final = frozenset({"s3:GetObjectVersion"})
WRITE: Final = frozenset({"s3:PutObject"})
HISTORY: Final = frozenset({"s3:ListBucketVersions"})
ACTIONS: Final = READ | READ_VERSION | WRITE | HISTORY

NOT_THERE: Final = frozenset({"NoSuchKey", "NoSuchVersion"})
NO_SUCH_VERSION: Final = frozenset({"InvalidArgument", "MethodNotAllowed"})
"""S3's errors for a version id with an invalid format, and for a version that is a delete marker."""

NO_BODY_TO_SAY_WHY: Final = "404"
"""Botocore's error code for a HEAD request of a key that does not exist."""

THERE: Final = "PreconditionFailed"

TYPES: Final = {".json": "application/json", ".sqlite": "application/vnd.sqlite3", ".html": "text/html; charset=utf-8"}
"""Content types by the suffix of the key. All other texts are plain text."""

CHUNK_BYTES: Final = 1 << 20

UNVERSIONED: Final = "null"
"""S3's version id of an object without versions."""


class S3Documents:
    """The texts of one bucket."""

    def __init__(self, session: AwsSession, bucket: str) -> None:
        """Make no call. The bucket is in the session's home region."""
        self._session = session
        self._bucket = bucket

    def read(self, key: str, version: str | None = None) -> tuple[str, str] | None:
        """Return the text and its version; None if there is none.

        Raises:
            FormatError: This version of Slackwater does not read its format.
            AwsError: Access is denied, or the S3 call failed.
            UnicodeDecodeError: It is not text.
        """
        which: Any = {} if version is None else {"VersionId": version}
        not_there = NOT_THERE if version is None else NOT_THERE | NO_SUCH_VERSION
        with remedies():
            try:
                answer = self._s3.get_object(Bucket=self._bucket, Key=key, **which)
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") in not_there:
                    return None
                raise
            self._check_format(key, answer)
            body, found = answer["Body"].read(), answer.get("VersionId", UNVERSIONED)
        return body.decode(), found

    def has(self, key: str) -> bool:
        """Return whether the text exists.

        Raises:
            AwsError: The S3 call failed.
        """
        with remedies():
            try:
                self._s3.head_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") == NO_BODY_TO_SAY_WHY:
                    return False
                raise
        return True

    def write(self, key: str, text: str) -> str:
        """Store a text, and return its version.

        Raises:
            AwsError: It is not stored, or it is unknown whether it is.
        """
        with remedies():
            return self._put(key, text)

    def write_once(self, key: str, text: str) -> bool:
        """Store a text if there is none; else return False and store nothing.

        Raises:
            AwsError: As in `write`.
        """
        with remedies():
            try:
                self._put(key, text, IfNoneMatch="*")
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") == THERE:
                    return False
                raise
        return True

    def write_file(self, key: str, file: Path) -> None:
        """Store the content of a file.

        Raises:
            AwsError: As in `write`.
        """
        with remedies(), file.open("rb") as body:
            self._s3.put_object(Bucket=self._bucket, Key=key, Body=body, **_about(key))

    def read_file(self, key: str, file: Path) -> bool:
        """Copy the stored content to a file; return False, without a file, if there is none.

        Raises:
            AwsError: As in `read`.
        """
        with remedies():
            try:
                answer = self._s3.get_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") in NOT_THERE:
                    return False
                raise
            self._check_format(key, answer)
            with file.open("wb") as out:
                for chunk in answer["Body"].iter_chunks(CHUNK_BYTES):
                    out.write(chunk)
        return True

    def _put(self, key: str, text: str, **condition: Any) -> str:
        answer = self._s3.put_object(Bucket=self._bucket, Key=key, Body=text.encode(), **_about(key), **condition)
        return answer.get("VersionId", UNVERSIONED)

    def _check_format(self, key: str, answer: Mapping[str, Any]) -> None:
        found = answer.get("Metadata", {}).get(FORMAT)
        if why := refusal(_kind(key), f"s3://{self._bucket}/{key}", found):
            raise FormatError(why)

    def versions(self, key: str) -> Iterator[Version]:
        """Yield every version and deletion of exactly this key, the newest first.

        Raises:
            AwsError: An S3 call failed.
        """
        after: dict[str, Any] = {}
        while True:
            # S3 omits an empty list from its response, but never IsTruncated.
            with remedies():
                page = self._s3.list_object_versions(Bucket=self._bucket, Prefix=key, **after)
            if "IsTruncated" not in page:
                raise BrokenAnswerError("the answer holds no IsTruncated")
            texts = [(one["IsLatest"], one["LastModified"], one, one["Size"]) for one in page.get("Versions", ())]
            deletions = [(one["IsLatest"], one["LastModified"], one, None) for one in page.get("DeleteMarkers", ())]
            for _, at, one, size_bytes in sorted([*texts, *deletions], key=itemgetter(0, 1), reverse=True):
                if one["Key"] == key:
                    yield Version(one["VersionId"], at, size_bytes)
            # The key sorts before every longer key with the same prefix.
            if not page["IsTruncated"] or page["NextKeyMarker"] != key:
                return
            after = {"KeyMarker": page["NextKeyMarker"], "VersionIdMarker": page["NextVersionIdMarker"]}

    def link(self, key: str, for_seconds: int) -> str:
        """Return a URL with which anyone can read the text for so many seconds.

        It expires sooner if the credentials that signed it do.
        """
        what = {"Bucket": self._bucket, "Key": key}
        with remedies():
            return self._s3.generate_presigned_url("get_object", Params=what, ExpiresIn=for_seconds)

    @property
    def _s3(self) -> S3Client:
        return self._session.client("s3", self._session.home)


def _kind(key: str) -> str:
    return key.partition("/")[0]


def _about(key: str) -> dict[str, Any]:
    """Return an object's metadata: the content type for browsers, and the format number for Slackwater."""
    type_ = TYPES.get(PurePosixPath(key).suffix, "text/plain; charset=utf-8")
    return {"ContentType": type_, "Metadata": {FORMAT: str(current(_kind(key)))}}
