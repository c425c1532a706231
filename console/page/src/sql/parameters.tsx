// Values for the `{name:Type}` of a statement: part of the address, as `p.name`.
import { plain } from "../parts/text";
import { param, setParams } from "../url";

const NAMED = /\{([A-Za-z_]\w*):([^{}]+)\}/g;

/** What the statements that come with Turnspan leave open, where the address does not say. */
const USUAL: Readonly<Record<string, string>> = {
  since: "1970-01-01 00:00:00",
  until: "2200-01-01 00:00:00",
  limit: "20",
};

/** Types by name, in the order in which a statement names them. */
export function parametersOf(sql: string): ReadonlyMap<string, string> {
  return new Map([...sql.matchAll(NAMED)].map(([, name = "", type = ""]) => [name, type]));
}

/** Their values, by name. */
export function valuesOf(sql: string): Record<string, string> {
  const names = [...parametersOf(sql).keys()];
  return Object.fromEntries(names.map((name) => [name, valueFor(name)]));
}

function valueFor(name: string): string {
  const value = param(`p.${name}`);
  return value || (name === "project" ? param("project") : (USUAL[name] ?? ""));
}

export function Parameters({ sql }: { sql: string }) {
  const types = [...parametersOf(sql)];
  if (!types.length) return null;
  return (
    <p class="actions">
      {types.map(([name, type]) => (
        <label key={name} title={plain(type)}>
          <span class="mono">{name}</span>{" "}
          <input
            type="text"
            value={valueFor(name)}
            onChange={(event) => setParams({ [`p.${name}`]: event.currentTarget.value })}
          />
        </label>
      ))}
    </p>
  );
}
