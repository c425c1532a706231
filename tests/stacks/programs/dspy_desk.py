"""DSPy's ReAct, which asks for tools in plain text."""

import dspy
import tools

dspy.configure(lm=dspy.LM("openai/gpt-4o", cache=False))  # once: another task may not


def start(stream):
    """Questions that know nothing of each other."""
    desk = dspy.ReAct("question -> answer", tools=[*tools.by_name().values()])

    def say(text):
        return desk(question=text).answer

    return say
