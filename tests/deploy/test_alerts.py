"""deploy/alerts and Grafana's: every metric they name is there, and every question answers."""

from __future__ import annotations

import re
from mmap import ACCESS_READ, mmap
from typing import Any

import pytest
import yaml
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, Sum

from support.clickhouse_server import library
from support.deployment import DEPLOY, Deployment
from turnspan import config, semconv
from turnspan.metrics.instruments import OBSERVED, Instruments
from turnspan.runtime.stats import REASONS

RULES: dict[str, Any] = yaml.safe_load((DEPLOY / "alerts" / "turnspan.rules.yaml").read_text())
ALERTS: list[dict[str, Any]] = [rule for group in RULES["groups"] for rule in group["rules"]]
PROVISIONED: dict[str, Any] = yaml.safe_load(
    (DEPLOY / "grafana" / "provisioning" / "alerting" / "turnspan.yaml").read_text()
)
ASKED: list[dict[str, Any]] = [rule for group in PROVISIONED["groups"] for rule in group["rules"]]
WORDS = {
    *("by", "for", "max", "sum", "or", "unless", "service_name", "increase", "min_over_time"),
    *("predict_linear", "turnspan_drop_reason"),
}


def named() -> set[str]:
    """Every name in the expressions that is none of PromQL's."""
    found: set[str] = set()
    for rule in ALERTS:
        bare = re.sub(r"\[[^\]]*\]|\b\d[\w.]*", "", rule["expr"])
        found |= set(re.findall(r"[A-Za-z_]\w+", bare)) - WORDS
    return found


def one(_options: CallbackOptions) -> list[Observation]:
    return [Observation(1)]


def ours() -> set[str]:
    """Our metrics as Prometheus has them: dots are underscores, what only grows is a total."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    observe = {metric.name: one for metric in OBSERVED}
    Instruments(provider.get_meter("test"), observe)
    data: Any = reader.get_metrics_data()
    found: set[str] = set()
    for metric in data.resource_metrics[0].scope_metrics[0].metrics:
        grows = isinstance(metric.data, Sum) and metric.data.is_monotonic
        found.add(metric.name.replace(".", "_") + ("_total" if grows else ""))
    provider.shutdown()
    return found


def test_every_metric_that_a_rule_names_is_there() -> None:
    """Ours as they are recorded; ClickHouse's as the engine of the tests names them."""
    metrics = {name for name in named() if name.startswith("turnspan_")}
    assert metrics and metrics <= ours()
    theirs = {name.removeprefix("ClickHouseAsyncMetrics_") for name in named() - metrics}
    assert theirs
    with library().open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as engine:
        for name in theirs:
            said = name.removesuffix("default")  # a disk's name is put behind it
            assert engine.find(said.encode()) >= 0, name


def test_rules_are_whole() -> None:
    """Each has a name of its own, a severity, and says what to do; labels are ones that exist."""
    assert len({rule["alert"] for rule in ALERTS}) == len(ALERTS) >= 7
    for rule in ALERTS:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert set(rule["annotations"]) == {"summary", "action"}
        for page in re.findall(r"docs/[\w/-]+\.md", str(rule["annotations"])):
            assert (DEPLOY.parent / page).is_file(), page
        for variable in re.findall(r"TURNSPAN_\w+", str(rule["annotations"])):
            assert variable in {option.variable for option in config.OPTIONS} or variable in (
                DEPLOY.parent / "docs" / "reference" / "settings.md"
            ).read_text("utf-8")
    assert semconv.DROP_REASON.replace(".", "_") == "turnspan_drop_reason"
    assert "spool_full" in REASONS


@pytest.mark.parametrize("rule", ASKED, ids=lambda rule: rule["uid"])
def test_what_grafana_asks_is_answered_for_the_reader(
    rule: dict[str, Any], deployment: Deployment
) -> None:
    """A number in one row at most, and a threshold over it."""
    question, threshold = rule["data"]
    sql = question["model"]["rawSql"]
    answer = deployment.ask("turnspan_reader", sql, settings={"database": "turnspan"})
    assert answer.code == 0, answer.text
    assert len(answer.text.splitlines()) <= 1
    assert threshold["model"]["expression"] == question["refId"]
    assert rule["condition"] == threshold["refId"]
    sources = yaml.safe_load(
        (DEPLOY / "grafana" / "provisioning" / "datasources" / "turnspan.yaml").read_text()
    )["datasources"]
    assert question["datasourceUid"] in {source["uid"] for source in sources}
