// The field of a filter, which completes names and values as they are typed.
import type { Ref } from "preact";
import { useState } from "preact/hooks";
import { value as written } from "../filter_text";
import type { FilterName } from "../types";
import { windowQuery } from "../url";
import { useAsk } from "../use_ask";
import { count } from "./numbers";
import { plain } from "./text";

interface Choice {
  /** What stands in the field instead of what was typed. */
  readonly text: string;
  readonly note: string;
}

interface Typed {
  readonly name: string;
  readonly part: string;
  /** Where the part begins that a choice takes the place of. */
  readonly start: number;
  readonly isValue: boolean;
}

const MOST = 12;
/** A term that is being typed: its name, the values before the last one, the last one. */
const TERM = /(?:^|\s)-?([\w.-]*)(:(?:(?:"[^"]*"|[^\s",]+),)*("[^"]*|[^\s",]*))?$/;

function typedAt(text: string): Typed | null {
  const found = TERM.exec(text);
  if (!found) return null;
  const [, name = "", values, last = ""] = found;
  if (values === undefined)
    return { name, part: name, start: text.length - name.length, isValue: false };
  return { name, part: last.replace('"', ""), start: text.length - last.length, isValue: true };
}

interface Props {
  name: string;
  value: string;
  placeholder: string;
  title: string;
  field: Ref<HTMLInputElement>;
}

export function FilterField({ name, value, placeholder, title, field }: Props) {
  const [text, setText] = useState(value);
  const [before, setBefore] = useState<string | null>(null);
  const [at, setAt] = useState(-1);
  const known = useAsk("GET /api/filters", before === null ? null : {}).answer?.filters ?? [];
  const typed = before === null ? null : typedAt(before);
  const filter = typed?.isValue && known.find((one) => isOf(one, typed.name));
  const looksUp = typed && filter && !filter.number && filter.values.length === 0;
  const { answer, stale } = useAsk(
    "GET /api/facets",
    looksUp ? { ...windowQuery(), name: [typed.name], text: typed.part, values: MOST } : null,
  );
  const found = looksUp && !stale ? (answer?.facets[0]?.values ?? []) : [];
  const choices = typed ? choicesOf(typed, known, filter || null, found) : [];
  const chosen = Math.min(at, choices.length - 1);
  const read = (event: { currentTarget: HTMLInputElement }) => {
    const { value: now, selectionStart } = event.currentTarget;
    setText(now);
    setBefore(now.slice(0, selectionStart ?? now.length));
    setAt(-1);
  };
  const close = () => {
    setBefore(null);
    setAt(-1);
  };
  const take = (input: HTMLInputElement, choice: Choice) => {
    if (!typed || before === null) return;
    input.setRangeText(choice.text, typed.start, before.length, "end");
    read({ currentTarget: input });
  };
  const press = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const choice = choices[chosen];
    if (event.key === "Escape") {
      if (choices.length) close();
      else event.currentTarget.blur();
    } else if (by && choices.length) {
      event.preventDefault();
      setAt(Math.max(-1, Math.min(choices.length - 1, chosen + by)));
    } else if (choice && (event.key === "Enter" || event.key === "Tab")) {
      event.preventDefault();
      take(event.currentTarget, choice);
    }
  };
  return (
    <div class="completed">
      <input
        ref={field}
        name={name}
        role="combobox"
        aria-label="Filter"
        aria-autocomplete="list"
        aria-expanded={choices.length > 0}
        aria-controls="filter-choices"
        aria-activedescendant={chosen >= 0 ? `filter-choice-${chosen}` : undefined}
        title={title}
        placeholder={placeholder}
        value={text}
        onInput={read}
        onClick={read}
        onFocus={read}
        onKeyDown={press}
        onBlur={close}
        spellcheck={false}
        autocomplete="off"
      />
      <div id="filter-choices" role="listbox" aria-label="Completions" hidden={!choices.length}>
        {choices.map((choice, place) => (
          <div
            key={choice.text}
            id={`filter-choice-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === chosen}
            onMouseDown={(event) => {
              event.preventDefault(); // the field keeps the focus
              const input = event.currentTarget.closest(".completed")?.querySelector("input");
              if (input) take(input, choice);
            }}
          >
            <span>{plain(choice.text)}</span> <span class="faint">{choice.note}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

/** A name that ends in a point is that of any key: `attribute.`. */
function isOf(known: FilterName, name: string): boolean {
  return known.name.endsWith(".") ? name.startsWith(known.name) : known.name === name;
}

function choicesOf(
  typed: Typed,
  known: readonly FilterName[],
  filter: FilterName | null,
  found: readonly { readonly value: string; readonly turns: number }[],
): Choice[] {
  if (!typed.isValue) {
    return known
      .filter((one) => one.name.startsWith(typed.part) && one.name !== typed.part)
      .slice(0, MOST)
      .map((one) => ({ text: one.name + joint(one), note: one.meaning }));
  }
  if (filter?.values.length) {
    return filter.values
      .filter((one) => one.startsWith(typed.part) && one !== typed.part)
      .map((text) => ({ text: `${text} `, note: "" }));
  }
  return found
    .filter(({ value }) => value !== typed.part)
    .map(({ value, turns }) => ({ text: written(value), note: count(turns) }));
}

function joint({ name, number }: FilterName): string {
  if (name.endsWith(".")) return "";
  return number ? ">" : ":";
}
