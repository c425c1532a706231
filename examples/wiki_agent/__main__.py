"""``python -m wiki_agent REQUEST``: one request, answered and recorded."""

from __future__ import annotations

import json
import sys

from openai import OpenAI

import turnspan
from wiki_agent.agent import WikiAgent
from wiki_agent.model import serve
from wiki_agent.pages import FolderWiki


def main() -> None:
    """Answer what the command line asks."""
    request = " ".join(sys.argv[1:]) or "Write an article about Cabo Norte."
    turnspan.configure(service_name="wiki-agent")
    turnspan.instrument()
    wiki = FolderWiki()
    with serve(wiki) as server, OpenAI(base_url=server.url, api_key="any") as client:
        answer = WikiAgent(wiki, client).answer(request)
    print(answer.text)
    print(json.dumps(answer.context, indent=2), file=sys.stderr)


if __name__ == "__main__":
    main()
