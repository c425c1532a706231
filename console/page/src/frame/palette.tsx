// One field for ids, names, screens, saved statements, what the keys do, and texts.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { term } from "../filter_text";
import { type Action, available, hint, KEYS, perform } from "../keys";
import { label } from "../parts/text";
import { placeOf } from "../places";
import { SCREENS } from "../screens";
import type { Named, SavedSql } from "../types";
import { go, param, to, withParams } from "../url";
import { useAsk } from "../use_ask";
import { views } from "../views";

type Way = { readonly words: string } & ({ readonly target: string } | { readonly action: Action });

/** Characters that an id and a name are looked for by. */
const SHORTEST = 6;
const SHORTEST_NAME = 2;

export function Palette({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const id = text.trim();
  const { answer, error, stale } = useAsk("GET /api/lookup", id.length >= SHORTEST ? { id } : null);
  const named = useAsk(
    "GET /api/names",
    id.length >= SHORTEST_NAME ? { text: id, project: param("project") } : null,
  );
  const { answer: saved } = useAsk("GET /api/sql/saved", {});
  const looking = id.length >= SHORTEST && !error && (stale || answer === null);
  const ids = (looking || id.length < SHORTEST ? [] : (answer?.found ?? [])).flatMap(
    (one): Way[] => {
      const target = placeOf(one);
      return target ? [{ words: `${one.kind} ${label(one.id)}`, target }] : [];
    },
  );
  const known = new Set(ids.map(keyOf));
  const names = named.stale || id.length < SHORTEST_NAME ? [] : (named.answer?.names ?? []);
  const ways: Way[] = [
    ...addresses(id),
    ...ids,
    ...screens(id),
    ...savedViews(id),
    ...statements(id, saved?.queries ?? []),
    ...names.map(wayTo).filter((way) => !known.has(keyOf(way))),
    ...actions(id),
    ...(id ? [{ words: `find “${label(id)}”`, target: withParams(["turns"], { q: id }) }] : []),
  ];
  const chosen = Math.min(at, ways.length - 1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another choice scrolls the list.
  useLayoutEffect(() => {
    dialog.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const [entered, setEntered] = useState(false);
  // Enter that comes before the look-up is done waits for it: a text search of an id finds nothing.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end of the look-up is what is waited for.
  useEffect(() => {
    const way = ways[chosen];
    if (entered && !looking && way) leave(way);
  }, [entered, looking]);
  const leave = (way: Way) => {
    dialog.current?.close();
    if ("target" in way) go(way.target);
    else perform(way.action);
  };
  const press = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) setAt(Math.max(0, Math.min(ways.length - 1, chosen + by)));
    const way = ways[chosen];
    if (event.key === "Enter" && looking) setEntered(true);
    else if (event.key === "Enter" && way) leave(way);
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
        aria-label="An id, a log line, an address, a name, a screen, a statement, a command or a text"
        placeholder="an id, a log line, an address, a name, a screen or a text"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
          setEntered(false);
        }}
        onKeyDown={press}
      />
      <span class="hidden" role="status">
        {looking ? "Looking for this id" : ""}
      </span>
      <div id="palette-ways" role="listbox" aria-label="Results" aria-busy={looking}>
        {ways.map((way, index) => (
          <div
            key={keyOf(way)}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => leave(way)}
            onKeyDown={press}
          >
            {way.words}
          </div>
        ))}
      </div>
    </dialog>
  );
}

function keyOf(way: Way): string {
  return "target" in way ? way.target : way.action;
}

function wayTo({ kind, name, project }: Named): Way {
  const words = `${kind} ${label(name)}${project ? ` of ${label(project)}` : ""}`;
  if (kind === "session") return { words, target: to("s", project, name) };
  return { words, target: withParams(["turns"], { f: term(kind, name), project }) };
}

/** What the keys of this screen do, by what it is called. */
function actions(text: string): Way[] {
  const wanted = text.toLowerCase();
  if (wanted.length < SHORTEST_NAME) return [];
  return available()
    .filter((action) => !action.startsWith("go") && action !== "palette")
    .filter((action) => KEYS[action][1].includes(wanted))
    .map((action) => ({ words: hint(action), action }));
}

function screens(text: string): Way[] {
  const wanted = text.toLowerCase();
  return SCREENS.filter(({ rail, title }) => rail && title.toLowerCase().includes(wanted)).map(
    ({ name, title }) => ({ words: title, target: to(name) }),
  );
}

/** An address of this page, of whatever machine it was copied from. */
function addresses(text: string): Way[] {
  const url = URL.parse(text);
  const first = url?.pathname.split("/")[1] ?? "";
  const isOurs =
    url && /^https?:$/.test(url.protocol) && SCREENS.some(({ name }) => name === first);
  if (!isOurs || (!first && url.origin !== location.origin)) return [];
  const target = url.pathname + url.search;
  return [{ words: `open ${label(target)}`, target }];
}

function savedViews(text: string): Way[] {
  const wanted = text.toLowerCase();
  return views.value
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map(({ name, address }) => ({ words: `view ${label(name)}`, target: address }));
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
