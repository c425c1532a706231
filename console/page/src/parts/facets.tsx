// How the turns of a list divide; a value is a filter.
import { has, term, toggled } from "../filter_text";
import type { Facets as FacetsAnswer, WantedQuery } from "../types";
import { param, setParams } from "../url";
import { useAsk } from "../use_ask";
import { kindOfEnd } from "./end";
import { Icon } from "./icon";
import { count } from "./numbers";
import { SqlLink } from "./panel";
import { plain } from "./text";

const TITLES: Readonly<Record<string, string>> = {
  stop: "ended",
  agent: "agent",
  model: "model",
  tool: "tool",
  failed: "failing tool",
  version: "version",
  error: "error",
};

export function Facets({ query }: { query: WantedQuery }) {
  const { answer, stale } = useAsk("GET /api/facets", query);
  return (
    <aside class={`facets ${stale ? "stale" : ""}`} aria-label="Filters by value">
      {answer?.facets.map((facet) => (
        <Facet key={facet.name} {...facet} />
      ))}
    </aside>
  );
}

function Facet({ name, values, sql }: FacetsAnswer["facets"][number]) {
  const filter = param("f");
  return (
    <section>
      <h2>
        {TITLES[name] ?? name} <SqlLink title={TITLES[name] ?? name} sql={sql} />
      </h2>
      {values.map(({ value, turns }) => {
        const chip = term(name, value);
        const end = name === "stop" ? kindOfEnd(value) : null;
        return (
          <button
            type="button"
            key={value}
            aria-pressed={has(filter, chip)}
            onClick={() => setParams({ f: toggled(filter, chip), at: "" })}
          >
            <span class="name" title={plain(value)}>
              {end && (
                <span class={end.tone}>
                  <Icon name={end.icon} />{" "}
                </span>
              )}
              {end?.words ?? plain(value)}
            </span>
            <span class="number">{count(turns)}</span>
          </button>
        );
      })}
    </section>
  );
}
