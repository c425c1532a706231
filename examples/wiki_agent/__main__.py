"""``python -m wiki_agent [--mediawiki API_URL] REQUEST``: one request, answered and recorded."""

from __future__ import annotations

import argparse
import json
import sys

from openai import OpenAI

import turnspan
from turnspan_records.quality.mediawiki_client import MediaWiki, credentials
from wiki_agent.agent import WikiAgent
from wiki_agent.mediawiki import ApiWiki
from wiki_agent.model import serve
from wiki_agent.pages import FolderWiki, Wiki


def main() -> None:
    """Answer what the command line asks."""
    parser = argparse.ArgumentParser(prog="wiki_agent")
    parser.add_argument("--mediawiki", metavar="API_URL", help="a real wiki, not the folder")
    parser.add_argument("request", nargs="*", default=["Write an article about Cabo Norte."])
    given = parser.parse_args()
    turnspan.configure(service_name="wiki-agent")
    turnspan.instrument()
    wiki: Wiki = FolderWiki()
    if given.mediawiki:
        wiki = ApiWiki(MediaWiki(given.mediawiki, credentials()))
    with serve(wiki) as server, OpenAI(base_url=server.url, api_key="any") as client:
        answer = WikiAgent(wiki, client).answer(" ".join(given.request))
    print(answer.text)
    print(json.dumps(answer.context, indent=2), file=sys.stderr)


if __name__ == "__main__":
    main()
