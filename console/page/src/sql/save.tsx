// Saving a statement under a name, which `turnspan sql --saved` knows as well.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ask, asRefusal } from "../api";
import { announce } from "../frame/live";
import { visible } from "../parts/text";
import type { SavedSql } from "../types";

interface Props {
  sql: string;
  /** The name that it came by. */
  name: string;
  known: readonly SavedSql[];
  saved: (name: string, queries: readonly SavedSql[]) => void;
}

export function Save({ sql, name, known, saved }: Props) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [error, setError] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const open = chosen !== null;
  useLayoutEffect(() => {
    if (open) field.current?.focus();
  }, [open]);
  if (chosen === null)
    return (
      <button type="button" onClick={() => setChosen(name)}>
        Save …
      </button>
    );
  const replaces = known.some((one) => one.name === chosen);
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      const { answer } = await ask("POST /api/sql/save", { name: chosen, sql });
      announce(`Saved ${chosen}`);
      setChosen(null);
      setError("");
      saved(chosen, answer.queries);
    } catch (caught) {
      setError(asRefusal(caught).message);
    }
  };
  return (
    <form class="saving" onSubmit={save}>
      <label>
        Name{" "}
        <input
          ref={field}
          type="text"
          maxLength={80}
          value={chosen}
          aria-invalid={error !== ""}
          onInput={(event) => setChosen(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary">
        {replaces ? "Replace" : "Save"}
      </button>
      <button type="button" onClick={() => setChosen(null)}>
        Cancel
      </button>
      {error && (
        <span class="bad" role="alert">
          {visible(error)}
        </span>
      )}
    </form>
  );
}
