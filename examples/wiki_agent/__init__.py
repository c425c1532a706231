"""An agent that works on a wiki, and says what it gave its model to read, and what it did not.

The wiki is a folder of pages about an island (``wiki/``), the model a server in this process, so it
needs neither a network nor a key:

    python -m wiki_agent "Write an article about the lighthouse at Cabo Norte."
"""

from wiki_agent.agent import Answer, WikiAgent
from wiki_agent.pages import FolderWiki, Page, Wiki

__all__ = ["Answer", "FolderWiki", "Page", "Wiki", "WikiAgent"]
