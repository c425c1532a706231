// How the turns of a list divide; a value is a filter, and of several of a name one is enough.
import { useState } from "preact/hooks";
import { chosenValues, terms, withValue } from "../filter_text";
import { keep, recall } from "../storage";
import type { FacetsQuery, Facet as OneFacet } from "../types";
import { param, replaceParams, setParams } from "../url";
import { useAsk } from "../use_ask";
import { End } from "./end";
import { Icon } from "./icon";
import { count, counted, seconds } from "./numbers";
import { SqlLink } from "./panel";
import { plain } from "./text";

const TITLES: Readonly<Record<string, string>> = {
  stop: "ended",
  failed: "failing tool",
  seconds: "duration",
};
const ATTRIBUTE = "attribute.";
const KEYS = "attribute";
/** Cards that are open until somebody folds them; the others are folded until they are opened. */
const OPEN = ["stop", "agent", "user", "model", "failed", "cost", "seconds"];
const TURNED = "turnspan.facets";
/** As many values as are asked for: there may be more. */
const ASKED = 12;
const FOUND = 50;

type Query = Partial<FacetsQuery>;

export function Facets({ query }: { query: Query }) {
  const attributes = param("facet").split(",").filter(Boolean);
  const { answer, stale } = useAsk("GET /api/facets", query);
  const more = useAsk(
    "GET /api/facets",
    attributes.length ? { ...query, name: attributes.map((key) => ATTRIBUTE + key) } : null,
  );
  const [shown, setShown] = useState(false);
  const cards = [
    ...(answer?.facets ?? []),
    ...(attributes.length ? (more.answer?.facets ?? []) : []),
  ];
  const number = terms(param("f")).length;
  return (
    <aside class={`facets ${stale ? "stale" : ""}`} aria-label="Filters by value">
      <button
        type="button"
        class="drawer"
        aria-expanded={shown}
        onClick={() => setShown((now) => !now)}
      >
        <Icon name="funnel" /> Filters {number > 0 && `(${number})`}
      </button>
      <div class={shown ? "cards shown" : "cards"}>
        {cards.map((facet) => (
          <Card key={facet.name} facet={facet} query={query} />
        ))}
        {answer !== null && <Attributes query={query} chosen={attributes} />}
      </div>
    </aside>
  );
}

function isTurned(name: string): boolean {
  return (recall(TURNED) ?? "").split("\n").includes(name);
}

function turn(name: string): void {
  const now = (recall(TURNED) ?? "").split("\n").filter(Boolean);
  const next = now.includes(name) ? now.filter((other) => other !== name) : [...now, name];
  keep(TURNED, next.join("\n"));
}

function Card({ facet, query }: { facet: OneFacet; query: Query }) {
  const { name } = facet;
  const filter = param("f");
  const chosen = chosenValues(filter, name);
  const [open, setOpen] = useState((OPEN.includes(name) || chosen.length > 0) !== isTurned(name));
  const [text, setText] = useState("");
  const asked = useAsk(
    "GET /api/facets",
    open && text ? { ...query, name: [name], text, values: FOUND } : null,
  );
  const found = text && asked.answer ? (asked.answer.facets[0]?.values ?? []) : facet.values;
  const missing = chosen.filter((one) => !found.some(({ value }) => value === one));
  const values = [...(text ? [] : missing.map((value) => ({ value, turns: 0 }))), ...found];
  const most = Math.max(1, ...values.map(({ turns }) => turns));
  const title = TITLES[name] ?? name.replace(ATTRIBUTE, "");
  const toggle = () => {
    turn(name);
    setOpen(!open);
  };
  return (
    <section aria-label={title}>
      <h2>
        <button type="button" class="fold" aria-expanded={open} onClick={toggle}>
          <Icon name={open ? "chevron-down" : "chevron-right"} /> {title}
          {chosen.length > 0 && <span class="number">{chosen.length} chosen</span>}
        </button>
        {open && <SqlLink title={title} sql={facet.sql} />}
      </h2>
      {open && (
        <>
          {(facet.values.length >= ASKED || text) && (
            <input
              type="search"
              aria-label={`Find a value of ${title}`}
              placeholder={`find in ${title}`}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          )}
          {text && found.length === 0 && <p class="faint">No value has this text.</p>}
          {values.map(({ value, turns }) => (
            <button
              type="button"
              key={value}
              class="value"
              aria-pressed={chosen.includes(value)}
              title={`${plain(value)}: ${counted(turns, "turn")}`}
              onClick={() => setParams({ f: withValue(filter, name, value), at: "" })}
            >
              <span class="name">{name === "stop" ? <End end={value} /> : words(name, value)}</span>
              <span class="number">{count(turns)}</span>
              <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                <rect width={(100 * turns) / most} height={1} />
              </svg>
            </button>
          ))}
        </>
      )}
    </section>
  );
}

/** A range of a number as people read it, and any other value as it is. */
function words(name: string, value: string): string {
  const unit = { cost: (text: string) => `$${text}`, seconds: (text: string) => seconds(+text) };
  const said = name === "cost" || name === "seconds" ? unit[name] : null;
  const [low, high] = value.split("..");
  if (!said || high === undefined) return plain(value);
  if (!low) return `under ${said(high)}`;
  return high ? `${said(low)} – ${said(high)}` : `${said(low)} and more`;
}

/** The keys of attributes, of which each can be a card. */
function Attributes({ query, chosen }: { query: Query; chosen: readonly string[] }) {
  const [open, setOpen] = useState(false);
  const { answer } = useAsk(
    "GET /api/facets",
    open ? { ...query, name: [KEYS], values: 200 } : null,
  );
  const keys = answer?.facets[0]?.values ?? [];
  const toggle = (key: string) => {
    const next = chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key];
    replaceParams({ facet: next.join(",") });
  };
  return (
    <section aria-label="Attributes">
      <h2>
        <button type="button" class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? "chevron-down" : "chevron-right"} /> by an attribute
        </button>
      </h2>
      {open && answer && keys.length === 0 && <p class="faint">No turn has attributes.</p>}
      {open &&
        keys.map(({ value, turns }) => (
          <button
            type="button"
            key={value}
            class="value"
            aria-pressed={chosen.includes(value)}
            onClick={() => toggle(value)}
          >
            <span class="name">{plain(value)}</span>
            <span class="number">{count(turns)}</span>
          </button>
        ))}
    </section>
  );
}
