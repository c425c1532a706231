"""An asynchronous agent that streams, two users at a time."""

import asyncio

from openai import AsyncOpenAI


async def answer(client: AsyncOpenAI, question: str) -> str:
    said = []
    stream = await client.chat.completions.create(
        model="gpt-4o", stream=True, messages=[{"role": "user", "content": question}]
    )
    async for chunk in stream:
        said += [choice.delta.content or "" for choice in chunk.choices]
    return "".join(said)


async def main() -> None:
    async with AsyncOpenAI() as client:
        questions = ["rain in Oslo?", "rain in Bergen?"]
        for said in await asyncio.gather(*(answer(client, each) for each in questions)):
            print(said)


if __name__ == "__main__":
    asyncio.run(main())
