"""Google's GenAI SDK, whose chats call the tools by themselves."""

import tools
from google import genai
from google.genai import types


def start(stream):
    """A conversation in one of its chats."""
    client = genai.Client()
    chat = client.chats.create(
        model="gemini-2.5-flash",
        config=types.GenerateContentConfig(
            tools=[*tools.by_name().values()], system_instruction=tools.SYSTEM
        ),
    )

    def say(text):
        if not stream:
            return chat.send_message(text).text
        return "".join(chunk.text or "" for chunk in chat.send_message_stream(text))

    say.client = client  # which closes its connections when nobody holds it
    return say
