// One field for ids, screens, saved statements and texts.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { label } from "../parts/text";
import { placeOf } from "../places";
import { SCREENS } from "../screens";
import type { SavedSql } from "../types";
import { go, to, withParams } from "../url";
import { useAsk } from "../use_ask";

interface Way {
  readonly words: string;
  readonly target: string;
}

const SHORTEST = 6;

export function Palette({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const id = text.trim();
  const { answer, stale } = useAsk("GET /api/lookup", id.length >= SHORTEST ? { id } : null);
  const { answer: saved } = useAsk("GET /api/sql/saved", {});
  const ways = [
    ...(stale || id.length < SHORTEST ? [] : (answer?.found ?? [])).flatMap((one): Way[] => {
      const target = placeOf(one);
      return target ? [{ words: `${one.kind} ${label(one.id)}`, target }] : [];
    }),
    ...screens(id),
    ...statements(id, saved?.queries ?? []),
    ...(id ? [{ words: `find “${label(id)}”`, target: withParams(["turns"], { q: id }) }] : []),
  ];
  const chosen = Math.min(at, ways.length - 1);
  const leave = (target: string) => {
    dialog.current?.close();
    go(target);
  };
  const press = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) setAt(Math.max(0, Math.min(ways.length - 1, chosen + by)));
    const way = ways[chosen];
    if (event.key === "Enter" && way) leave(way.target);
    if (by || event.key === "Enter") event.preventDefault();
  };
  return (
    <dialog class="palette" ref={dialog} onClose={close} aria-label="Find or go to an id">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-ways"
        aria-activedescendant={ways.length ? `palette-${chosen}` : undefined}
        aria-label="An id, a screen, a saved statement or a text"
        placeholder="an id, a screen or a text"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div id="palette-ways" role="listbox" aria-label="Ways">
        {ways.map(({ words, target }, index) => (
          <div
            key={target}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => leave(target)}
            onKeyDown={press}
          >
            {words}
          </div>
        ))}
      </div>
    </dialog>
  );
}

function screens(text: string): Way[] {
  const wanted = text.toLowerCase();
  return SCREENS.filter(({ rail, title }) => rail && title.toLowerCase().includes(wanted)).map(
    ({ name, title }) => ({ words: title, target: to(name) }),
  );
}

function statements(text: string, saved: readonly SavedSql[]): Way[] {
  const wanted = text.toLowerCase();
  return saved
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map(({ name }) => ({
      words: `SQL ${label(name)}`,
      target: withParams(["sql"], { saved: name }),
    }));
}
