// What is filtered by: typed, or taken away by its chip; and the text that is looked for.
import { useRef } from "preact/hooks";
import { terms, toggled } from "../filter_text";
import { hint, useKeys } from "../keys";
import { param, setParams } from "../url";
import { FilterField } from "./filter_field";
import { Icon } from "./icon";
import { plain } from "./text";

const EXAMPLE = "stop:tool_failure -agent:wiki cost>0.01 judged:no";

export function FilterBar({ text }: { text: boolean }) {
  const field = useRef<HTMLInputElement>(null);
  const filter = param("f");
  useKeys({ find: () => field.current?.focus() });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setParams({ f: String(form.get("f") ?? "").trim(), q: String(form.get("q") ?? ""), at: "" });
  };
  return (
    <search>
      <form class="filter" onSubmit={submit}>
        <FilterField
          key={filter}
          field={field}
          name="f"
          title={hint("find")}
          placeholder={EXAMPLE}
          value={filter}
        />
        {text && (
          <input
            name="q"
            type="search"
            aria-label="Find a text"
            placeholder="find a text"
            value={param("q")}
            key={`q${param("q")}`}
            onKeyDown={leave}
          />
        )}
        <button type="submit">Apply</button>
        {terms(filter).map((one) => (
          <button
            type="button"
            class="chip"
            key={one}
            title="Remove this term"
            onClick={() => setParams({ f: toggled(filter, one), at: "" })}
          >
            {plain(one)} <Icon name="x" />
          </button>
        ))}
      </form>
    </search>
  );
}

function leave(event: KeyboardEvent): void {
  if (event.key === "Escape" && event.currentTarget instanceof HTMLElement) {
    event.currentTarget.blur();
  }
}
