"""Known vulnerabilities in locked versions: which are reported, and that no version passes unchecked."""

import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

import audit

ROOT = Path(__file__).parents[3]
TODAY = datetime.now(UTC).isoformat()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "requirements.txt").write_text(
        "boto3==1.40.0 \\\n    --hash=sha256:00\npy-yaml[fast]==6.0 ; python_version > '3'\n"
    )
    browser = tmp_path / "tests" / "browser"
    browser.mkdir(parents=True)
    packages = {
        "": {},
        "node_modules/uplot": {"version": "1.6.32"},
        "node_modules/a/node_modules/@b/c": {"version": "2.0.0-rc.1"},
    }
    (browser / "package-lock.json").write_text(json.dumps({"packages": packages}))
    return tmp_path


def record(
    name: str, ecosystem: str = "PyPI", id_: str = "GHSA-1", modified: str = TODAY, **affected: object
) -> dict[str, object]:
    return {
        "id": id_,
        "modified": modified,
        "affected": [{"package": {"ecosystem": ecosystem, "name": name}, **affected}],
    }


def until(*events: dict[str, str]) -> dict[str, object]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}


def run(project: Path, *records: dict[str, object], more: tuple[str, ...] = (), partial: bool = False) -> int:
    folder = project / "advisories"
    folder.mkdir(exist_ok=True)
    everything = [record("none", ecosystem) for ecosystem in ("PyPI", "npm")]
    for number, one in enumerate(records if partial else [*records, *everything]):
        (folder / f"{number}.json").write_text(json.dumps(one))
    return audit.main(["--root", str(project), "--advisories", str(folder), *more])


@pytest.mark.parametrize(
    ("affected", "found"),
    [
        ({"versions": ["1.40.0"]}, True),
        ({"versions": ["1.40.1"]}, False),
        (until({"introduced": "0"}), True),
        (until({"introduced": "0"}, {"fixed": "1.40.1"}), True),
        (until({"introduced": "0"}, {"fixed": "1.40.0"}), False),
        (until({"introduced": "1.40.0"}), True),
        (until({"introduced": "1.40.1"}), False),
        (until({"introduced": "0"}, {"last_affected": "1.40.0"}), True),
        (until({"introduced": "0"}, {"last_affected": "1.39.9"}), False),
        (until({"introduced": "0"}, {"fixed": "1.9"}, {"introduced": "1.39"}, {"fixed": "1.41"}), True),
        (until({"introduced": "0"}, {"fixed": "1.9"}, {"introduced": "1.41"}), False),
        ({"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}, False),
    ],
)
def test_a_version_is_vulnerable_as_osv_says(project: Path, affected, found: bool, capsys) -> None:
    assert run(project, record("Boto3", **affected)) == int(found)
    assert ("requirements.txt: boto3 1.40.0: GHSA-1" in capsys.readouterr().out) is found


@pytest.mark.parametrize(
    ("name", "events", "found"),
    [
        ("uplot", ({"introduced": "0"}, {"fixed": "1.6.33"}), True),
        ("uplot", ({"introduced": "0"}, {"fixed": "1.6.4"}), False),
        ("@b/c", ({"introduced": "0"}, {"fixed": "2.0.0"}), True),
        ("@b/c", ({"introduced": "0"}, {"fixed": "2.0.0-rc.1"}), False),
        ("@b/c", ({"introduced": "2.0.0-rc.2"},), False),
    ],
)
def test_versions_of_npm_have_their_own_order(project: Path, name: str, events, found: bool) -> None:
    ranges = [{"type": "SEMVER", "events": list(events)}]
    assert run(project, record(name, "npm", ranges=ranges), record("none")) == int(found)


def test_names_are_compared_as_pypi_does_and_what_is_withdrawn_does_not_count(project: Path) -> None:
    one = record("Py_YAML", versions=["6.0"])

    assert run(project, one) == 1
    assert run(project, one | {"withdrawn": TODAY}, record("none")) == 0


def test_a_zip_is_as_good_as_a_folder(project: Path) -> None:
    with zipfile.ZipFile(project / "all.zip", "w") as archive:
        archive.writestr("GHSA-1.json", json.dumps(record("boto3", versions=["1.40.0"])))

    assert audit.main(["--root", str(project), "--advisories", str(project / "all.zip")]) == 1


@pytest.mark.parametrize("path", ["nowhere", "empty", "wrong.zip"])
def test_without_advisories_nothing_counts_as_checked(project: Path, path: str, capsys) -> None:
    (project / "empty").mkdir()
    (project / "wrong.zip").write_text("no zip")

    assert audit.main(["--root", str(project), "--advisories", str(project / path)]) == 2
    assert "not checked" in capsys.readouterr().err


def test_the_source_and_its_age_are_printed_and_an_old_source_is_refused(project: Path, capsys) -> None:
    old = (datetime.now(UTC) - timedelta(days=40)).isoformat()

    every = record("none", modified=old), record("none", "npm", modified=old)
    assert run(project, *every, partial=True) == 0
    output = capsys.readouterr().out
    assert ": newest advisory of " in output
    assert ", 40 days old; PyPI, npm\n" in output
    assert f"PyPI: 2 versions, 0 with a vulnerability known by {old[:10]}" in output
    assert run(project, *every, partial=True, more=("--most-days", "30")) == 2


def test_sources_that_were_named_and_do_not_cover_every_ecosystem_are_no_check(project: Path, capsys) -> None:
    assert run(project, record("none"), partial=True) == 2
    assert "npm: 2 versions NOT CHECKED" in capsys.readouterr().out


def test_without_a_copy_of_osv_it_is_checked_against_what_is_packaged(project: Path, monkeypatch, capsys) -> None:
    packaged = {
        "$meta": {"timestamp": 1625119202},
        "boto3": [{"id": "pyup.io-1", "cve": None, "specs": ["<1.2", ">=1.39,<1.41"]}],
    }
    (project / "insecure_full.json").write_text(json.dumps(packaged))
    spec = SimpleNamespace(origin=str(project / "__init__.py"))
    monkeypatch.setattr(audit, "find_spec", lambda _: spec)

    assert audit.main(["--root", str(project)]) == 1
    output = capsys.readouterr().out
    assert output.startswith("safety-db: newest advisory of 2021-07-01, ")
    assert "boto3 1.40.0: pyup.io-1" in output


def test_without_any_source_nothing_counts_as_checked(project: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(audit, "find_spec", lambda _: None)

    assert audit.main(["--root", str(project)]) == 2
    assert "not checked: safety-db is not installed" in capsys.readouterr().err


def test_every_lock_of_this_project_is_looked_at() -> None:
    found = {str(path.relative_to(ROOT)) for path in audit.locks(ROOT)}
    there = {
        str(path.relative_to(ROOT))
        for pattern in ("**/requirements*.txt", "tools/requirements/*.txt", "**/package-lock.json")
        for path in ROOT.glob(pattern)
        if not re.search(r"(^|/)(\.|node_modules/|build/)", str(path.relative_to(ROOT)))
    }

    assert found == there
    for path in audit.locks(ROOT):
        assert [*audit.locked_in(path, ROOT)], path
