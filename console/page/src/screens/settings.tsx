// Is everything landing, what is in the store, and how does the page look?
import { KeysSwitch } from "../frame/keys_switch";
import { useStatus } from "../frame/status";
import { nextTheme, theme } from "../frame/theme";
import { hint } from "../keys";
import { commandLine } from "../parts/copy";
import { bytes, count } from "../parts/numbers";
import { Panel, usePanelKeys } from "../parts/panel";
import { Answered } from "../parts/states";
import { visible } from "../parts/text";
import type { Check, SettingsAnswer } from "../types";
import { useAsk } from "../use_ask";

const MARKS: Readonly<Record<string, readonly [string, string]>> = {
  ok: ["✓", "good"],
  warn: ["!", "warn"],
  fail: ["✗", "bad"],
};

export function Settings() {
  const asked = useAsk("GET /api/settings", {});
  const wrong = asked.answer?.checks.filter((one) => one.level !== "ok").length;
  useStatus(commandLine(["doctor"]), wrong === undefined ? "" : `${wrong} findings`);
  usePanelKeys();
  return (
    <>
      <h1>Settings</h1>
      <div class="panels">
        <Panel title="Does everything land?">
          <Answered asked={asked}>{(told) => <Checks checks={told.checks} />}</Answered>
        </Panel>
        <Panel title="What the store holds">
          <Answered asked={asked}>{(told) => <Tables told={told} />}</Answered>
        </Panel>
        <Panel title="This page">
          <p>
            <button type="button" title={hint("theme")} onClick={nextTheme}>
              Theme: {theme.value}
            </button>
          </p>
          <p>
            <KeysSwitch />
          </p>
          <p class="faint">
            Served at {location.host}, for who has the token. Turnspan {asked.answer?.version ?? ""}
            . Another token: <code>turnspan console --new-token</code>
          </p>
        </Panel>
      </div>
    </>
  );
}

function Checks({ checks }: { checks: readonly Check[] }) {
  return (
    <ul class="looks checks">
      {checks.map((one) => {
        const [mark, tone] = MARKS[one.level] ?? ["?", "faint"];
        return (
          <li key={`${one.area} ${one.name} ${one.finding}`} data-level={one.level}>
            <span class={tone} role="img" aria-label={one.level}>
              {mark}
            </span>{" "}
            {one.area} · {one.name}: {visible(one.finding)}
            {one.remedy && <p class="faint">→ {visible(one.remedy)}</p>}
          </li>
        );
      })}
    </ul>
  );
}

function Tables({ told }: { told: SettingsAnswer }) {
  return (
    <table class="list">
      <thead>
        <tr>
          <th>table</th>
          <th class="number">rows</th>
          <th class="number">on disk</th>
          <th class="number">parts</th>
        </tr>
      </thead>
      <tbody>
        {told.tables.map((one) => (
          <tr key={one.table}>
            <td>{one.table}</td>
            <td class="number" data-label="rows">
              {count(one.rows)}
            </td>
            <td class="number">{bytes(one.bytes)}</td>
            <td class="number" data-label="parts">
              {count(one.parts)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
