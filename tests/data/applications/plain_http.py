"""A script without an SDK and without a function that is an agent."""

import os

import httpx

messages = [{"role": "user", "content": "Is it raining in Oslo? rain in Oslo, they say"}]
with httpx.Client(base_url=os.environ["OPENAI_BASE_URL"], timeout=30) as client:
    reply = client.post("/chat/completions", json={"model": "gpt-4o", "messages": messages})
    print(reply.raise_for_status().json()["choices"][0]["message"]["content"])
