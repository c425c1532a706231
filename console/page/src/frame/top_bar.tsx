// The bar at the top: whose records and of when, which every screen keeps to.
import { hint, shown } from "../keys";
import { plain } from "../parts/text";
import { param, setParams } from "../url";
import { useAsk } from "../use_ask";
import { nextTheme, theme } from "./theme";

const WINDOWS: readonly (readonly [string, string])[] = [
  ["", "all time"],
  ["1h", "last hour"],
  ["24h", "last 24 h"],
  ["7d", "last 7 days"],
  ["30d", "last 30 days"],
];
const GLYPHS = { system: "◐", dark: "●", light: "○" } as const;

interface Props {
  showKeys: () => void;
  showPalette: () => void;
}

export function TopBar({ showKeys, showPalette }: Props) {
  return (
    <header class="top">
      <Project />
      <Window />
      <span class="space" />
      <button type="button" class="finder" title={hint("palette")} onClick={showPalette}>
        {shown("Mod+k")} find or go to an id
      </button>
      <button
        type="button"
        title={hint("theme")}
        aria-label={`Theme: ${theme.value}`}
        onClick={nextTheme}
      >
        {GLYPHS[theme.value]}
      </button>
      <button type="button" title={hint("keys")} aria-label="Keys" onClick={showKeys}>
        ?
      </button>
    </header>
  );
}

function Project() {
  const { answer } = useAsk("GET /api/store", {});
  const chosen = param("project");
  const names = (answer?.projects ?? []).filter((name) => name !== "");
  if (chosen && !names.includes(chosen)) names.push(chosen);
  return (
    <select
      aria-label="Project"
      value={chosen}
      onChange={(event) => setParams({ project: event.currentTarget.value, at: "" })}
    >
      <option value="">all projects</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {plain(name)}
        </option>
      ))}
    </select>
  );
}

function Window() {
  const since = param("since");
  const until = param("until");
  const chosen = until ? "range" : since;
  const known = WINDOWS.some(([value]) => value === chosen);
  return (
    <select
      aria-label="Time"
      value={chosen}
      onChange={(event) => setParams({ since: event.currentTarget.value, until: "", at: "" })}
    >
      {WINDOWS.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
      {!known && <option value={chosen}>{until ? range(since, until) : `since ${since}`}</option>}
    </select>
  );
}

function range(since: string, until: string): string {
  const short = (text: string) => text.replace("T", " ").replace(/(:\d\d)(\.\d+)?Z?$/, "$1");
  return `${since ? short(since) : "…"} – ${short(until)}`;
}
