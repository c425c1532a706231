from __future__ import annotations

import json

from openai import OpenAI

from desk.tools import weather

TOOL = {"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}}


class Desk:
    def __init__(self) -> None:
        self.client = OpenAI()

    def handle(self, question: str) -> str:
        items = [{"role": "user", "content": question}]
        while True:
            reply = self.client.responses.create(model="gpt-5", input=items, tools=[TOOL])
            asked = [item for item in reply.output if item.type == "function_call"]
            if not asked:
                return reply.output_text
            for call in asked:
                items.append(call.model_dump(exclude_none=True))
                said = weather(**json.loads(call.arguments))
                output = {"type": "function_call_output", "call_id": call.call_id, "output": said}
                items.append(output)
