"""Real boto3 clients that call simulated accounts on the loopback interface."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.config import Config

from slackwater_simulator import Simulator, demo_fleet

type Clients = Callable[..., Any]
REGION = "ap-northeast-1"


@pytest.fixture(scope="session")
def session() -> boto3.Session:
    return boto3.Session(aws_access_key_id="AKIAEXAMPLE", aws_secret_access_key="not-a-secret", region_name=REGION)


@pytest.fixture
def clients(session) -> Iterator[Clients]:
    """Return `clients(simulator, "ec2")`, which creates a client without retries. All clients are closed at the end."""
    opened = []

    def make(simulator: Simulator, service: str, region: str = REGION, **credentials: str) -> Any:
        once = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=30)
        client = session.client(service, region_name=region, endpoint_url=simulator.url, config=once, **credentials)
        opened.append(client)
        return client

    yield make
    for client in opened:
        client.close()


@pytest.fixture(scope="session")
def demo() -> Iterator[Simulator]:
    with Simulator(demo_fleet()) as simulator:
        yield simulator


@pytest.fixture
def planted(demo) -> Callable[[str], Any]:
    """Return a function that finds a planted case of the demo by its name."""
    by_name = {case.name: case for case in demo.fleet.planted}
    return lambda name: by_name[name]


class Metrics:
    """Calls GetMetricData for one metric at a time, oldest point first."""

    def __init__(self, client: Any, now: int) -> None:
        self.client, self.now = client, datetime.fromtimestamp(now, UTC)

    def ask(
        self,
        namespace: str,
        name: str,
        stat: str,
        period: int,
        days: float,
        *,
        unit: str | None = None,
        **dimensions: str,
    ) -> dict[str, Any]:
        metric = {
            "Namespace": namespace,
            "MetricName": name,
            "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
        }
        query = {"Metric": metric, "Period": period, "Stat": stat} | ({"Unit": unit} if unit else {})
        answer = self.client.get_metric_data(
            MetricDataQueries=[{"Id": "m", "MetricStat": query}],
            StartTime=self.now - timedelta(days=days),
            EndTime=self.now,
            ScanBy="TimestampAscending",
        )
        return answer["MetricDataResults"][0]

    def values(self, *question: Any, **dimensions: str) -> list[float]:
        return self.ask(*question, **dimensions)["Values"]


@pytest.fixture
def metrics(demo, clients) -> Metrics:
    return Metrics(clients(demo, "cloudwatch"), demo.fleet.now)
