"""The wiki agent works on a real MediaWiki as it does on its folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai import OpenAI

from support.mediawiki import PASSWORD, RealWiki
from support.shared import REPOSITORY
from turnspan.testing import record
from turnspan_clickhouse.rows.loop_tables import ArtifactRow
from turnspan_records.quality.mediawiki_client import Credentials, MediaWiki
from wiki_agent.agent import Answer, WikiAgent
from wiki_agent.mediawiki import ApiWiki
from wiki_agent.model import serve
from wiki_agent.pages import (
    ENCYCLOPEDIA,
    INSTRUCTIONS,
    PROJECT,
    SOURCES,
    TALK,
    FolderWiki,
    Wiki,
)
from wiki_agent.settings import load

SPACES = (PROJECT, INSTRUCTIONS, ENCYCLOPEDIA, SOURCES, TALK)
REQUEST = "Write an article about the lighthouse and the tide at Cabo Norte."


@pytest.fixture(scope="module")
def island(real_wiki: RealWiki) -> Iterator[ApiWiki]:
    """The pages of the folder in a real wiki."""
    folder = FolderWiki()
    made = ApiWiki(
        MediaWiki(real_wiki.api, Credentials("Agent", PASSWORD)), external=folder.external
    )
    for namespace in SPACES:
        for page in folder.pages(namespace):
            real_wiki.write("Ada", made.full_name(namespace, page.title), page.source)
    yield made


def answered(wiki: Wiki) -> Answer:
    """One request."""
    with (
        record(),
        serve(wiki) as server,
        OpenAI(base_url=server.url, api_key="any") as client,
    ):
        return WikiAgent(wiki, client).answer(REQUEST)


def told(answer: Answer) -> object:
    """What was considered and what became of it, without times."""
    return [
        (one["id"], one["section"], one["kept"], one.get("reason"), one.get("tokens"))
        for one in answer.context["items"]
    ]


@pytest.mark.release
def test_a_wiki_by_its_address_is_the_same_to_the_agent(island: ApiWiki) -> None:
    """Every page, and the context of a request."""
    folder = FolderWiki()
    for namespace in SPACES:
        expected = [(page.id, page.text) for page in folder.pages(namespace)]
        assert [(page.id, page.text) for page in island.pages(namespace)] == expected
    assert load(island) == load(folder)
    assert island.page(ENCYCLOPEDIA, "Nowhere") is None
    assert island.pages("No such namespace") == []
    one, other = answered(island), answered(folder)
    assert (one.text, told(one)) == (other.text, told(other))


def test_what_the_agent_writes_has_its_revision(island: ApiWiki) -> None:
    """So that `turnspan quality` finds it whatever the wiki makes of the text."""
    with record() as recorded:
        island.write(ENCYCLOPEDIA, "Cabo Sur", "A cape. ~~~~")
    (artifact,) = recorded.rows(ArtifactRow)
    assert (artifact.target, artifact.kind) == ("Encyclopedia:Cabo Sur", "page")
    page = island.page(ENCYCLOPEDIA, "Cabo Sur")
    assert page is not None and "Agent" in page.text
    assert artifact.version.isdecimal()
    assert any(one.title == "Cabo Sur" for one in island.pages(ENCYCLOPEDIA))


@pytest.mark.release
def test_from_the_command_line(island: ApiWiki, real_wiki: RealWiki, tmp_path: Path) -> None:
    """`python -m wiki_agent --mediawiki API_URL REQUEST`."""
    done = subprocess.run(
        [sys.executable, "-m", "wiki_agent", "--mediawiki", real_wiki.api, *REQUEST.split()],
        cwd=REPOSITORY / "examples",
        env={**os.environ, "TURNSPAN_STORE": f"chdb://{tmp_path}/store"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Encyclopedia:Cabo Norte lighthouse" in done.stderr
