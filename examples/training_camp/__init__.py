"""A training camp: four lineages of an agent, tried, judged and changed over several cycles.

    python -m training_camp           (from this folder's parent, or: turnspan demo --camp)

The agent writes short wiki articles from notes. Its model is a local one (``model.py``), which does
what its system prompt asks for; ``rubric.py`` judges what it wrote. ``camp.py`` is the loop: run,
score, lock the best, give directives, evolve the others, run again.
"""

from training_camp.camp import Camp, run

__all__ = ["Camp", "run"]
