"""Names that readers would have to look up are refused."""

from pathlib import Path

import pytest

from plain_names import main, problems, read_rules

RULES = '[use]\n"issue" = ["trouble", "troubles"]\n\n[exceptions]\ncontracts = ["troubles"]\n'


@pytest.fixture
def rules_file(tmp_path: Path) -> Path:
    (path := tmp_path / "rules.toml").write_text(RULES)
    return path


@pytest.mark.parametrize(
    "code",
    [
        "def find_trouble(): ...",
        "class TroubleFinder: ...",
        "def f(trouble): ...",
        "trouble = 1",
        "self.trouble = 1",
        "import x as trouble",
        "MAX_TROUBLE: int = 1",
    ],
)
def test_each_kind_of_name_is_refused_with_the_term_to_use(code: str, tmp_path: Path, rules_file: Path) -> None:
    (path := tmp_path / "module.py").write_text(f"\n{code}\n")
    (problem,) = problems(path, read_rules(rules_file))
    assert problem.startswith(f"{path}:2: ")
    assert "use 'issue' instead of 'trouble'" in problem


def test_a_file_name_is_a_name(tmp_path: Path, rules_file: Path) -> None:
    (path := tmp_path / "trouble_finder.py").write_text("")
    assert [*problems(path, read_rules(rules_file))] == [f"{path}:1: trouble_finder: use 'issue' instead of 'trouble'"]


@pytest.mark.parametrize("code", ["troubles = 1", "troubled = 1", "x = trouble", "x = {'trouble': 1}"])
def test_exceptions_uses_and_other_words_pass(code: str, tmp_path: Path, rules_file: Path) -> None:
    (path := tmp_path / "module.py").write_text(code)
    assert [*problems(path, read_rules(rules_file))] == []


def test_the_projects_own_list_refuses_a_word_and_accepts_an_exception(tmp_path: Path) -> None:
    rules = read_rules(Path(__file__).parents[3] / "tools/plain_names.toml")
    (path := tmp_path / "module.py").write_text("troubles = 1\ntwins = 2\npytestmark = 3\n")
    assert [*problems(path, rules)] == [f"{path}:2: twins: use 'negative control' instead of 'twins'"]


def test_a_word_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    (path := tmp_path / "rules.toml").write_text('[use]\n"issue" = ["Trouble"]\n\n[exceptions]\n')
    with pytest.raises(ValueError, match="lower case only, not Trouble"):
        read_rules(path)


def test_the_command_fails_on_a_refused_name_and_on_an_empty_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 1
    (tmp_path / "module.py").write_text("docket = 1\n")
    assert main([str(tmp_path)]) == 1
    assert "docket: use 'evaluation queue'" in capsys.readouterr().out
    (tmp_path / "module.py").write_text("evaluation_queue = 1\n")
    assert main([str(tmp_path)]) == 0
