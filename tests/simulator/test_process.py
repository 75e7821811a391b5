"""The program that serves a fleet."""

import json
import signal
import subprocess
import sys


def test_it_says_where_it_is_and_ends_with_its_parent():
    command = [sys.executable, "-m", "slackwater_simulator", "--fleet", "mixed", "--resources", "100", "--exit-with-stdin"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        where = json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(20) == 0
    assert where["url"].startswith("http://127.0.0.1:")
    assert where | {"url": ""} == {
        "url": "",
        "now": "2026-11-16T09:07:00Z",
        "account": "123456789012",
        "regions": ["ap-northeast-1"],
    }


def test_it_ends_when_told_to():
    with subprocess.Popen([sys.executable, "-m", "slackwater_simulator"], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
