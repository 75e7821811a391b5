"""The program that serves a fleet over HTTP."""

import json
import signal
import subprocess
import sys
import urllib.request


def test_it_says_where_it_is_and_ends_with_its_parent():
    command = [
        sys.executable,
        "-m",
        "slackwater_simulator",
        "--fleet",
        "mixed",
        "--resources",
        "100",
        "--exit-with-stdin",
    ]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes) as process:
        where = json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.stderr.read() == b"", "programs read this"
        assert process.wait(20) == 0
    assert where["url"].startswith("http://127.0.0.1:")
    assert where | {"url": ""} == {
        "url": "",
        "now": "2026-11-16T09:07:00Z",
        "account": "123456789012",
        "regions": ["ap-northeast-1"],
    }


def test_it_ends_on_request_and_says_how_to_scan_it():
    with subprocess.Popen(
        [sys.executable, "-m", "slackwater_simulator"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        where = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        printed = process.stderr.read()
        assert process.wait(20) == 0
    assert printed.startswith("Scan it with:\n")
    for part in (f"AWS_ENDPOINT_URL={where['url']} ", "AWS_REGION=ap-northeast-1\n", "AWS_ACCESS_KEY_ID="):
        assert part in printed
    assert printed.endswith(f"  slackwater scan --now {where['now']}\n")


def test_its_clock_ticks_only_when_asked_to():
    def moments(*options):
        command = [sys.executable, "-m", "slackwater_simulator", *options, "--exit-with-stdin"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            url = json.loads(process.stdout.readline())["url"]
            for _ in range(2):
                with urllib.request.urlopen(f"{url}/_simulator/clock") as answer:
                    yield json.loads(answer.read())["now"]
            process.stdin.close()

    first, second = moments()
    assert first == second
    first, second = moments("--ticking", "--speed", "1e9")
    assert first < second
