"""Makes ``tests/data/sample``: ``PYTHONPATH=tests python -m data.make_sample`` (``make sample``).

Everything in it is ours: conversations written here, played by small agent loops through the real
SDKs against ``turnspan.testing.ModelServer``, and kept in the formats in which others publish their
recordings. It is what tests read where the large recorded data is not at hand (``support.shared``).
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import openai

from data import sample_exchanges
from turnspan.testing import ModelServer, ToolRequest

FOLDER = Path(__file__).resolve().parent / "sample"
RUNS = 24
STEP_LIMIT = 30
SYSTEM = "You are the assistant of a shop for garden tools. Look orders up before you speak."
THINGS = ("spade", "rake", "hose", "shears", "wheelbarrow", "trowel", "hoe", "sprinkler")
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gita", "Hugo")


class Conversation:
    """One run: a user, the model's replies as they are queued, and the messages as they went."""

    def __init__(self, number: int, server: ModelServer, client: Any) -> None:
        self.chance = random.Random(number)
        self.number = number
        self.user_id = f"{self.chance.choice(NAMES).lower()}_{1000 + number}"
        self._server, self._client = server, client
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
        self.tools = self.failed = self.calls = self.turns = 0
        self._same_id = number % 8 == 1  # some programs use an id twice

    def turn(self, user: str, *steps: tuple[str, dict[str, Any], str], reply: str = "") -> None:
        """A user message, the tools that the model asks for one after the other, its reply."""
        self.turns += 1
        self.messages.append({"role": "user", "content": user})
        for name, arguments, result in steps:
            call_id = "call_same" if self._same_id else f"call_{self.number}_{self.tools}"
            self._server.reply(tool_requests=[ToolRequest(name, arguments, call_id)])
            self._call()
            self.tools += 1
            self.failed += result.startswith("Error")
            answer = {"role": "tool", "tool_call_id": call_id, "name": name, "content": result}
            self.messages.append(answer)
        if reply:
            self._server.reply(reply)
            self._call()

    def _call(self) -> None:
        self.calls += 1
        sent = [{k: v for k, v in m.items() if k != "name"} for m in self.messages]
        made = self._client.chat.completions.create(model="gpt-4o", messages=sent)
        self.messages.append(made.choices[0].message.model_dump(exclude_none=True))
        self.messages[-1].setdefault("content", None)

    def play(self) -> None:
        """Two to five turns, and an end that is one of a few."""
        kinds = (self.look_up, self.ask, self.change, self.fail)
        for _ in range(self.chance.randint(2, 5)):
            self.chance.choice(kinds)()
        if self.number % 12 == 2:
            self.hand_over()
        elif self.number % 12 == 3:
            self.never_ends()
        else:
            self.messages.append({"role": "user", "content": "###STOP###"})

    def _order(self) -> tuple[str, str]:
        return f"W{self.chance.randint(100_000, 999_999)}", self.chance.choice(THINGS)

    def look_up(self) -> None:
        """One tool."""
        order, thing = self._order()
        found = json.dumps({"id": order, "item": thing, "status": "shipped"})
        asked = f"Where is my {thing}? The order is {order}."
        reply = f"Your {thing} of order {order} is on its way."
        self.turn(asked, ("get_order", {"order_id": order}, found), reply=reply)

    def ask(self) -> None:
        """No tool."""
        order, thing = self._order()
        self.turn(
            f"Is a {thing} any good? My list says {order}.", reply=f"{order}: it is, for years."
        )

    def change(self) -> None:
        """Two tools, one after the other."""
        order, thing = self._order()
        found = json.dumps({"id": order, "item": thing, "status": "pending"})
        self.turn(
            f"Please send the {thing} of {order} to my office.",
            ("get_order", {"order_id": order}, found),
            ("set_address", {"order_id": order, "address": "Office 7"}, "done"),
            reply=f"Order {order} now goes to your office.",
        )

    def fail(self) -> None:
        """A tool that fails."""
        order, _ = self._order()
        failed = ("get_order", {"order_id": order}, f"Error: there is no order {order}")
        self.turn(f"And what of {order}?", failed, reply=f"I cannot find {order}, I am sorry.")

    def hand_over(self) -> None:
        """The application ends the run after this tool."""
        order, _ = self._order()
        summary = {"summary": f"The customer wants a person for {order}."}
        step = ("transfer_to_human_agents", summary, "Transfer successful")
        self.turn(f"I want to talk to a person about {order}.", step)

    def never_ends(self) -> None:
        """The application ends the run after so many calls."""
        steps: list[tuple[str, dict[str, Any], str]] = []
        while self.calls + len(steps) < STEP_LIMIT:
            order, thing = self._order()
            steps.append(("get_order", {"order_id": order}, json.dumps({"item": thing})))
        self.turn("Check all of my orders.", *steps)

    def index(self, path: str) -> dict[str, Any]:
        """What the index says of it, counted while it was played."""
        return {
            "kind": "trajectory",
            "path": path,
            "source": "turnspan",
            "licence": "Apache-2.0",
            "provider": "openai",
            "n_turns": self.turns,
            "n_llm_calls": self.calls,
            "n_tool_calls": self.tools,
            "n_tool_errors": self.failed,
        }


def tau_bench(run: Conversation) -> dict[str, Any]:
    """A record of tau-bench's layout."""
    info = {"task": {"user_id": run.user_id}}
    return {"task_id": run.number, "reward": 1.0, "info": info, "traj": run.messages}


def tau2(run: Conversation) -> dict[str, Any]:
    """A record of tau2-bench's layout: a greeting first, and the user has a tool, too."""
    greeting = {"role": "assistant", "content": "Hello! What can I do?", "turn_idx": 0}
    looked: dict[str, Any] = {
        "id": "u1",
        "name": "look_at_receipt",
        "arguments": {},
        "requestor": "user",
    }
    messages: list[dict[str, Any]] = [
        greeting,
        {"role": "user", "content": None, "tool_calls": [looked]},
        {"role": "tool", "id": "u1", "content": "a receipt", "requestor": "user", "error": False},
    ]
    for message in run.messages[1:]:
        said = {"role": message["role"], "content": message.get("content")}
        if message["role"] == "tool":
            failed = message["content"].startswith("Error")
            said |= {"id": message["tool_call_id"], "requestor": "assistant", "error": failed}
        if message.get("tool_calls"):
            said["tool_calls"] = [_tau2_call(call) for call in message["tool_calls"]]
        if message["role"] == "assistant":
            said["usage"] = {"prompt_tokens": 10, "completion_tokens": 5}
        messages.append(said)
    ended = {"termination_reason": "user_stop", "reward_info": {"reward": 1.0}}
    return {"id": str(run.number), "task_id": str(run.number), "policy": SYSTEM, **ended} | {
        "messages": messages
    }


def _tau2_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {
        "id": call["id"],
        "name": function["name"],
        "arguments": json.loads(function["arguments"]),
        "requestor": "assistant",
    }


def intercode(number: int) -> dict[str, Any]:
    """A record of intercode's layout: a task that is solved, or is not."""
    actions = [f"ls /garden/{number}", "cat notes.txt", f"grep -c rake bed{number}.txt"]
    observations = ["notes.txt", "No such file or directory", f"{number}"]
    return {
        "environment": "ic_bash",
        "task_id": number,
        "query": f"How many rakes are in bed {number}?",
        "turn_history": {
            "actions": actions,
            "observations": observations,
            "valid_action": [True, False, True],
            "rewards": [0.0, 0.0, float(number % 2)],
        },
        "summary": {"max_reward": float(number % 2), "turns_taken": 3, "turns_max": 3},
    }


def swe_agent(number: int) -> dict[str, Any]:
    """A record of SWE-agent's layout: commands in the text of replies."""
    issue = f"The function rake{number} forgets the last leaf."
    history = [
        {"role": "system", "content": "You mend a repository by commands."},
        {"role": "user", "content": issue},
        {"role": "assistant", "content": "I look first.", "action": f"cat rake{number}.py"},
        {"role": "user", "content": "for leaf in leaves[:-1]: gather(leaf)"},
        {"role": "assistant", "content": "I mend it.", "action": "sed -i 's/:-1//' rake.py"},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": "That was it.", "action": "submit"},
    ]
    return {"environment": "garden", "history": history, "info": {"exit_status": "submitted"}}


def write(name: str, records: Iterable[dict[str, Any]]) -> None:
    """A trajectory file."""
    path = FOLDER / "trajectories" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps({"_src": {"source": "turnspan"}, "record": each}) for each in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> None:
    """Make it anew."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    runs: list[Conversation] = []
    with ModelServer() as server:
        client = openai.OpenAI(base_url=server.url, api_key="any", max_retries=0)
        for number in range(1, RUNS + 1):
            runs.append(Conversation(number, server, client))
            runs[-1].play()
    write("tau-bench__sample", map(tau_bench, runs))
    write("tau2__sample", map(tau2, (run for run in runs[:8] if not run.messages[-1].get("name"))))
    write("intercode__sample", map(intercode, range(1, 5)))
    write("swe-agent__sample", map(swe_agent, range(1, 4)))
    index = [
        run.index(f"trajectories/tau-bench__sample.jsonl#{place}")
        for place, run in enumerate(runs, 1)
    ]
    index += sample_exchanges.write(FOLDER)
    text = "".join(f"{json.dumps(entry)}\n" for entry in index)
    (FOLDER / "index.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
