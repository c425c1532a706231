"""Instructor, whose replies are objects."""

import instructor
import openai
import tools
from pydantic import BaseModel


class Answer(BaseModel):
    """What the desk says."""

    city: str


def start(stream):
    """A conversation whose whole history is sent each time."""
    client = instructor.from_openai(openai.OpenAI(max_retries=0))
    history = [{"role": "system", "content": tools.SYSTEM}]

    def say(text):
        history.append({"role": "user", "content": text})
        answer = client.chat.completions.create(
            model="gpt-4o", messages=[*history], response_model=Answer
        )
        history.append({"role": "assistant", "content": answer.model_dump_json()})
        return answer.model_dump_json()

    return say
