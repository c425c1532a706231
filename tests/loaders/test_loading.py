"""The sets are loaded by the loaders of those who train: every file, with its splits."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

# Of an environment of their own, in which the type checkers do not look.
datasets: Any = import_module("datasets")
transformers: Any = import_module("transformers")

SETS = Path(__file__).resolve().parents[2] / "build" / "sets"
KINDS = ("sft", "preference", "kto", "reward", "cot")
FORMATS = ("openai", "trl", "parquet")
COLUMNS = {
    "sft": {"prompt", "completion"},
    "cot": {"prompt", "completion"},
    "kto": {"prompt", "completion", "label"},
    "reward": {"prompt", "completion", "score", "scored_by"},
    "preference": {"prompt", "chosen", "rejected"},
}
TEMPLATE = """\
{%- if tools %}{% for tool in tools %}<tool>{{ tool.function.name }}</tool>{% endfor %}{% endif %}
{%- for message in messages %}<{{ message.role }}>
{%- if message.reasoning_content %}<think>{{ message.reasoning_content }}</think>{% endif %}
{%- if message.content is string %}{{ message.content }}{% else %}
{%- for block in message.content %}
{{- block.text if block.type == 'text' else '<image>' }}{% endfor %}{% endif %}
{%- for call in message.tool_calls or [] %}<call>{{ call.function.name }}
{%- for name, value in call.function.arguments.items() %} {{ name }}={{ value }}{% endfor %}</call>
{%- endfor %}</{{ message.role }}>{% endfor %}"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)


def loaded(kind: str, form: str, tmp_path: Path) -> Any:
    """The set as `datasets` loads it by its folder: the card says which file is which split."""
    return datasets.load_dataset(str(SETS / kind / form), cache_dir=str(tmp_path))


def manifest(kind: str, form: str) -> Any:
    return json.loads((SETS / kind / form / "manifest.json").read_text("utf-8"))


def without_nothing(value: Any) -> Any:
    """Without the fields that others of a column have and this one has not."""
    fields: Any = value
    if isinstance(value, dict):
        return {k: without_nothing(v) for k, v in fields.items() if v is not None}
    return [without_nothing(one) for one in fields] if isinstance(value, list) else value


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_set_is_loaded_with_its_splits(kind: str, form: str, tmp_path: Path) -> None:
    """As many lines as the manifest says, with the columns of the kind."""
    found = loaded(kind, form, tmp_path)

    splits = manifest(kind, form)["splits"]
    assert {name: len(split) for name, split in found.items()} == {
        name: one["lines"] for name, one in splits.items()
    }
    for split in found.values():
        if form != "openai":
            assert COLUMNS[kind] | {"tools", "source"} == set(split.column_names)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_late_is_loaded(kind: str, form: str, tmp_path: Path) -> None:
    """Tool calls, tools and images only after the ten megabytes of which `datasets` makes up its
    mind where the card does not say what the columns are."""
    folder = SETS / "late" / kind / form
    rows = datasets.load_dataset(str(folder), cache_dir=str(tmp_path))["train"]

    assert len(rows) == manifest(f"late/{kind}", form)["splits"]["train"]["lines"]
    if form == "parquet":
        assert any(
            "stock" in (one["tools"] or "")
            for one in rows.select(range(len(rows) - 150, len(rows)))
        )
        return
    with (folder / "train.jsonl").open("rb") as file:
        begin = file.read(10 << 20)
        file.seek(0)
        assert b"stock" not in begin
        assert b"image" not in begin
        late: set[bytes] = set()
        for line, found in zip(file, rows, strict=True):
            late |= {one for one in (b"stock", b"image") if one in line}
            assert without_nothing(found) == without_nothing(json.loads(line))
    # OpenAI takes pairs of single messages only.
    single = (kind, form) == ("preference", "openai")
    assert late == ({b"image"} if single else {b"image", b"stock"})


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_loaded_is_what_was_written(kind: str, tmp_path: Path) -> None:
    """Line by line, the arguments of every tool included."""
    for split, found in loaded(kind, "trl", tmp_path).items():
        path = SETS / kind / "trl" / f"{split}.jsonl"
        written = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert [without_nothing(one) for one in found] == [without_nothing(one) for one in written]


def test_parquet_has_the_same_lines(tmp_path: Path) -> None:
    """The same messages, with arguments and tools as JSON text."""
    parquet, trl = loaded("sft", "parquet", tmp_path), loaded("sft", "trl", tmp_path)

    for split, rows in trl.items():
        for one, other in zip(rows, parquet[split], strict=True):
            assert json.loads(other["source"])["content_hash"]
            assert json.loads(other["source"])["id"] == one["source"]["id"]
            assert json.loads(other["tools"] or "null") == without_nothing(one["tools"])
            for mine, theirs in zip(one["completion"], other["completion"], strict=True):
                # JSON beside images is a block, or `datasets` would read it.
                blocks = [{"type": "text", "text": theirs["content"]}]
                assert mine["content"] in (theirs["content"], blocks)
                for call, same in zip(
                    mine.get("tool_calls") or [], theirs["tool_calls"] or [], strict=True
                ):
                    assert (
                        json.loads(same["function"]["arguments"]) == call["function"]["arguments"]
                    )


def test_no_prompt_is_in_two_splits(tmp_path: Path) -> None:
    """By the prompts themselves, in every set."""
    for kind in KINDS:
        found = loaded(kind, "trl", tmp_path / kind)
        prompts = {
            split: {json.dumps([one["prompt"], one["tools"]]) for one in rows}
            for split, rows in found.items()
        }
        for split, mine in prompts.items():
            for other, theirs in prompts.items():
                assert split == other or not mine & theirs, kind


def test_a_chat_template_takes_every_line(tmp_path: Path) -> None:
    """With the tools and their arguments as objects, as templates of real models ask for."""
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=_words(), chat_template=TEMPLATE, unk_token="?"
    )
    texts: list[str] = []
    for kind in ("sft", "cot"):
        for rows in loaded(kind, "trl", tmp_path / kind).values():
            for line in rows:
                messages = without_nothing([*line["prompt"], *line["completion"]])
                tools = without_nothing(line["tools"])
                text = tokenizer.apply_chat_template(messages, tools=tools, tokenize=False)
                texts.append(text)

    assert any("<call>stock size=42</call><call>stock size=43</call>" in text for text in texts)
    assert any("<think>I have to look.</think>" in text for text in texts)
    assert any("<tool>stock</tool>" in text for text in texts)
    assert any("What is this?<image>" in text for text in texts)
    assert all(text.rstrip().endswith("</assistant>") for text in texts)


def test_images_are_beside_the_lines(tmp_path: Path) -> None:
    """Under the path that the line names, as an image that can be opened."""
    found = [
        block["image"]
        for rows in loaded("sft", "trl", tmp_path).values()
        for line in rows
        for message in line["prompt"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "image"
    ]

    assert len(found) == 1
    assert (SETS / "sft" / "trl" / found[0]).read_bytes().startswith(b"\x89PNG")


def _words() -> Tokenizer:
    made = Tokenizer(WordLevel({"?": 0}, unk_token="?"))
    made.pre_tokenizer = Whitespace()
    return made
