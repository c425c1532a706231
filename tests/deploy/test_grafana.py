"""deploy/grafana: every panel's SQL runs as the reader over real records, and answers.

Grafana itself is not run here (no package registry carries it). Its plugin's macros are expanded as
the plugin does, and the datasource's settings are checked against the reader's rights.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml

from support.demo_records import land
from support.deployment import DEPLOY, Deployment
from support.grafana import Window
from turnspan_clickhouse.store.opening import open_store

GRAFANA = DEPLOY / "grafana"
DASHBOARDS: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in sorted(GRAFANA.glob("dashboards/*.json"))
}
PANELS = [
    pytest.param(name, panel, id=f"{name}-{panel['title']}")
    for name, dashboard in DASHBOARDS.items()
    for panel in dashboard["panels"]
]
VARIABLES = [
    pytest.param(variable, id=f"{name}-{variable['name']}")
    for name, dashboard in DASHBOARDS.items()
    for variable in dashboard["templating"]["list"]
]
SOURCE: dict[str, Any] = yaml.safe_load(
    (GRAFANA / "provisioning" / "datasources" / "turnspan.yaml").read_text()
)["datasources"][0]


@pytest.fixture(scope="module")
def filled(deployment: Deployment, demo_blocks: Mapping[str, bytes]) -> Iterator[Deployment]:
    """The deployed server with the demonstration's records, landed by the writer."""
    with open_store(deployment.dsn("writer")) as store:
        land(store, demo_blocks)
    deployment.server.run("SYSTEM FLUSH LOGS")
    yield deployment


@pytest.fixture(scope="module")
def window(filled: Deployment) -> Window:
    """A day around the records, all projects, and the session with most turns."""
    answer = filled.server.run(
        "SELECT toUnixTimestamp(min(start_time)), groupUniqArray(toString(project)),"
        " topK(1)(session_id)[1] FROM turnspan.turn_summary FORMAT JSONCompact"
    )
    ((since, projects, session),) = json.loads(answer)["data"]
    day = 86_400
    variables = {"project": projects, "session": [session]}
    return Window(int(since) - day // 2, int(since) + day // 2, 300, variables)


def ask(deployment: Deployment, sql: str) -> dict[str, Any]:
    """What the datasource's user is answered, with the settings that its driver adds."""
    timeout = int(SOURCE["jsonData"]["queryTimeout"])
    settings = {
        "database": SOURCE["jsonData"]["defaultDatabase"],
        "default_format": "JSON",
        "max_execution_time": timeout + 5,
    }
    answer = deployment.ask(SOURCE["jsonData"]["username"], sql, settings=settings)
    assert answer.code == 0, f"{answer.text}\n{urlencode(settings)}\n{sql}"
    found: dict[str, Any] = json.loads(answer.text)
    return found


@pytest.mark.parametrize(("dashboard", "panel"), PANELS)
def test_each_panel_answers(
    filled: Deployment, window: Window, dashboard: str, panel: dict[str, Any]
) -> None:
    """Rows on the demonstration's records, in the shape that the panel's kind draws."""
    (target,) = panel["targets"]
    answer = ask(filled, window.expand(target["rawSql"]))
    types = [column["type"] for column in answer["meta"]]

    assert answer["data"], f"{dashboard}: no rows"
    assert target["format"] == (0 if panel["type"] == "timeseries" else 1)
    if panel["type"] == "timeseries":
        times = [row[answer["meta"][0]["name"]] for row in answer["data"]]
        assert answer["meta"][0]["name"] == "time" and types[0].startswith("DateTime")
        assert times == sorted(times)
        assert any(re.search(r"Int|Float", kind) for kind in types[1:])
    if panel["type"] == "stat":
        assert len(answer["data"]) == len(types) == 1
        (value,) = answer["data"][0].values()
        assert value is not None
    # The driver hands decimals over as text, which no panel draws.
    assert not any("Decimal" in kind for kind in types)
    named = {override["matcher"]["options"] for override in panel["fieldConfig"]["overrides"]}
    assert named <= {column["name"] for column in answer["meta"]}


@pytest.mark.parametrize("variable", VARIABLES)
def test_each_variable_has_values(
    filled: Deployment, window: Window, variable: dict[str, Any]
) -> None:
    """What the drop-down lists."""
    answer = ask(filled, window.expand(variable["query"]["rawSql"]))

    assert answer["data"]
    assert len(answer["meta"]) == 1


SQL = [
    pytest.param(sql, id=f"{name}-{number}")
    for name, dashboard in DASHBOARDS.items()
    for number, sql in enumerate(
        re.findall(r'"rawSql": ("(?:[^"\\\\]|\\\\.)*")', json.dumps(dashboard))
    )
]


@pytest.mark.parametrize("sql", SQL)
def test_only_the_window_is_read(filled: Deployment, window: Window, sql: str) -> None:
    """Variables and panels alike: of a window in which nothing was recorded, next to nothing is
    read, whatever the store holds."""
    later = Window(window.since + 10**9, window.until + 10**9, 300, window.variables)
    answer = ask(filled, later.expand(json.loads(sql)))
    assert "system." in sql or answer["statistics"]["rows_read"] <= 2


@pytest.mark.parametrize("name", DASHBOARDS)
def test_each_dashboard_is_whole(name: str) -> None:
    """Own ids, the provisioned datasource, no panel over another, links that lead somewhere."""
    dashboard = DASHBOARDS[name]
    panels = dashboard["panels"]
    taken = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    sources = [panel["datasource"] for panel in panels]
    sources += [target["datasource"] for panel in panels for target in panel["targets"]]
    linked = set(re.findall(r"/d/([\w-]+)", json.dumps(dashboard)))

    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len(taken) == len(set(taken)) and max(x for x, _ in taken) < 24
    assert all(one == {"type": SOURCE["type"], "uid": SOURCE["uid"]} for one in sources)
    assert linked <= {one["uid"] for one in DASHBOARDS.values()}
    assert dashboard["uid"] == f"turnspan-{name}"


def test_the_first_numbers_are_the_records(filled: Deployment, window: Window) -> None:
    """Turns, calls and cost of the overview, counted another way."""
    titles = ["Turns", "Model calls", "Cost"]
    stats = {panel["title"]: panel["targets"][0] for panel in DASHBOARDS["overview"]["panels"]}
    shown = [
        float(*ask(filled, window.expand(stats[title]["rawSql"]))["data"][0].values())
        for title in titles
    ]
    counted = filled.server.run(
        "SELECT (SELECT uniqExact(turn_id) FROM turnspan.turn_summary WHERE parent_turn_id = ''),"
        " (SELECT uniqExact(span_id) FROM turnspan.llm_call),"
        " (SELECT toFloat64(sum(cost_usd)) FROM turnspan.llm_call FINAL)"
    )

    assert shown == [float(number) for number in counted.split()]


def test_a_value_with_a_quote_stays_a_value(filled: Deployment, window: Window) -> None:
    """A project's name is text in every panel, whatever it holds."""
    odd = Window(window.since, window.until, 60, {"project": ["x') OR 1=1 --"], "session": ["s"]})
    sql = DASHBOARDS["overview"]["panels"][0]["targets"][0]["rawSql"]

    assert ask(filled, odd.expand(sql))["data"] == [{"turns": 0}]
