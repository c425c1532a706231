"""deploy/clickhouse/users.sql says what the tested users.d/turnspan.xml says.

The test server cannot make users, so the statements are parsed by it and compared with the XML.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from support.deployment import DEPLOY, JOBS, Deployment

USERS_SQL = [
    statement.strip()
    for statement in re.sub(r"--.*", "", (DEPLOY / "clickhouse" / "users.sql").read_text()).split(
        ";"
    )
    if statement.strip()
]
USERS_XML = ElementTree.parse(DEPLOY / "clickhouse" / "users.d" / "turnspan.xml").getroot()


def flat(text: str | None) -> str:
    return " ".join((text or "").split())


@pytest.mark.parametrize("statement", USERS_SQL, ids=lambda text: flat(text)[:50])
def test_the_engine_understands_users_sql(deployment: Deployment, statement: str) -> None:
    """Every statement is ClickHouse's SQL."""
    passwords = {f"param_{job}": "x" for job in JOBS}
    explained = deployment.ask(
        "default", f"EXPLAIN AST {statement}", settings=passwords, password=""
    )

    assert explained.code == 0, explained.text


def test_users_sql_grants_what_the_xml_grants() -> None:
    """The two forms differ in nothing: users, rights, profiles, limits."""
    in_xml = {
        flat(f"{query.text} {'FROM' if 'REVOKE' in (query.text or '') else 'TO'} {user.tag}")
        for user in USERS_XML.findall("users/*")
        for query in user.iter("query")
    }
    in_sql = {flat(text) for text in USERS_SQL if text.startswith(("GRANT", "REVOKE"))}
    profiles = {
        user.tag: user.findtext("profile")
        for user in USERS_XML.findall("users/*")
        if user.tag != "default"
    }
    made = {
        str(found[1]): str(found[2])
        for text in USERS_SQL
        if (found := re.search(r"CREATE USER OR REPLACE (\w+) .* PROFILE '(\w+)'", flat(text)))
    }

    assert in_sql == in_xml
    assert made == profiles


@pytest.mark.parametrize(
    "name", ["turnspan_writer", "turnspan_reader", "turnspan_reviewer", "turnspan_admin"]
)
def test_users_sql_limits_what_the_xml_limits(name: str) -> None:
    """Settings and their constraints."""
    profile = USERS_XML.find(f"profiles/{name}")
    assert profile is not None
    wanted = {setting.tag: [setting.text] for setting in profile if setting.tag != "constraints"}
    for constraint in profile.findall("constraints/*"):
        wanted[constraint.tag] += [part.tag.replace("readonly", "const") for part in constraint]
        wanted[constraint.tag] += [part.text for part in constraint if part.text]
    (text,) = [text for text in USERS_SQL if f"PROFILE OR REPLACE {name} " in text]
    found: dict[str, list[str | None]] = {}
    settings = flat(text).partition(f"{name} SETTINGS ")[2].replace("PROFILE ", "profile = ")
    for setting in settings.split(", "):
        key, value, *rest = setting.replace("= ", "").replace("'", "").split()
        words, numbers = [w.lower() for w in rest[::2]], list(rest[1::2])
        found[key] = [value, *words, *numbers]

    assert found == wanted
