// The bar at the top: whose records and of when, which every screen keeps to.
import { hint, shown } from "../keys";
import { Icon } from "../parts/icon";
import { ListBox } from "../parts/list_box";
import { label, plain } from "../parts/text";
import { address, param, setParams } from "../url";
import { useAsk } from "../use_ask";
import { density, nextTheme, theme } from "./theme";

const WINDOWS = [
  { value: "", words: "all time" },
  { value: "1h", words: "last hour" },
  { value: "24h", words: "last 24 hours" },
  { value: "7d", words: "last 7 days" },
  { value: "30d", words: "last 30 days" },
];
const THEMES = { system: "monitor", dark: "moon", light: "sun" } as const;

interface Props {
  showKeys: () => void;
  showPalette: () => void;
}

export function TopBar({ showKeys, showPalette }: Props) {
  const rows = density.now.value;
  return (
    <header class="top">
      <Project />
      <Window />
      <span class="space" />
      <button type="button" class="finder" title={hint("palette")} onClick={showPalette}>
        <Icon name="search" />
        <span>Find</span>
        <kbd>{shown("Mod+k")}</kbd>
      </button>
      <button
        type="button"
        class="quiet for-wide"
        title={`Rows: ${rows}`}
        aria-label={`Rows: ${rows}`}
        onClick={density.next}
      >
        <Icon name={rows === "compact" ? "rows-4" : "rows-3"} />
      </button>
      <button
        type="button"
        class="quiet"
        title={hint("theme")}
        aria-label={`Theme: ${theme.value}`}
        onClick={nextTheme}
      >
        <Icon name={THEMES[theme.value]} />
      </button>
      <button
        type="button"
        class="quiet for-wide"
        title={hint("keys")}
        aria-label="Keys"
        onClick={showKeys}
      >
        <Icon name="keyboard" />
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
    <ListBox
      label="Project"
      value={chosen}
      options={[
        { value: "", words: "all projects" },
        ...names.map((name) => ({ value: name, words: label(name) })),
      ]}
      choose={(project) => setParams({ project, at: "" })}
    />
  );
}

function Window() {
  const since = param("since");
  const until = param("until");
  if (address.value.path[0] === "week") return null; // It chooses its week itself.
  const known = !until && WINDOWS.some(({ value }) => value === since);
  const value = known ? since : " ";
  const other = { value, words: until ? range(since, until) : `since ${plain(since)}` };
  return (
    <ListBox
      label="Time"
      value={value}
      options={known ? WINDOWS : [...WINDOWS, other]}
      typed={(text) => ({ value: text, words: `since ${plain(text)}` })}
      choose={(chosen) => chosen !== " " && setParams({ since: chosen, until: "", at: "" })}
    >
      <Icon name="clock" />
    </ListBox>
  );
}

function range(since: string, until: string): string {
  const short = (text: string) =>
    text
      .replace("T", " ")
      .replace(/(:\d\d):00(\.0+)?Z?$/, "$1")
      .replace(/ 00:00$/, "");
  return plain(`${since ? short(since) : "…"} – ${short(until)}`);
}
