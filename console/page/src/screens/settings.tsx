// Is everything landing, what is in the store, and how does the page look?
import { useState } from "preact/hooks";
import { ask } from "../api";
import { jaeger, setJaeger } from "../frame/jaeger";
import { KeysSwitch } from "../frame/keys_switch";
import { announce } from "../frame/live";
import { useStatus } from "../frame/status";
import { nextTheme, theme } from "../frame/theme";
import { hint } from "../keys";
import { Command, commandLine } from "../parts/copy";
import { bytes, count, counted, UNKNOWN, When } from "../parts/numbers";
import { Panel, usePanelKeys } from "../parts/panel";
import { Answered } from "../parts/states";
import { plain, visible } from "../parts/text";
import { Fact, Facts } from "../replay/inspector";
import type {
  Check,
  DryRun,
  ReceiverShown,
  Retention,
  Serving,
  SettingShown,
  SettingsAnswer,
  Surroundings,
} from "../types";
import { useAsk } from "../use_ask";

const MARKS: Readonly<Record<string, readonly [string, string]>> = {
  ok: ["✓", "good"],
  warn: ["!", "warn"],
  fail: ["✗", "bad"],
};

export function Settings() {
  const asked = useAsk("GET /api/settings", {});
  const around = useAsk("GET /api/surroundings", {});
  const serving = useAsk("GET /api/serving", {});
  const checks = [...(asked.answer?.checks ?? []), ...(around.answer?.checks ?? [])];
  const wrong = checks.filter((one) => one.level !== "ok").length;
  useStatus(commandLine(["doctor"]), checks.length ? counted(wrong, "finding") : "");
  usePanelKeys();
  return (
    <>
      <h1>Settings</h1>
      <div class="panels">
        <Panel title="Does everything land?">
          <Answered asked={asked}>{(told) => <Checks checks={told.checks} />}</Answered>
          <Answered asked={around}>{(told) => <Checks checks={told.checks} />}</Answered>
        </Panel>
        <Panel title="Who listens">
          <Answered asked={serving}>{(told) => <Page serving={told} />}</Answered>
          <Answered asked={around}>{(told) => <Receivers receivers={told.receivers} />}</Answered>
        </Panel>
        <Panel title="What is recorded">
          <Answered asked={around}>{(told) => <Recording settings={told.recording} />}</Answered>
        </Panel>
        <Panel title="What goes, and when">
          <Answered asked={asked}>{(told) => <Kept retention={told.retention} />}</Answered>
        </Panel>
        <Panel title="What the store holds">
          <Answered asked={around}>{(told) => <Places told={told} />}</Answered>
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
          <JaegerField />
          <p class="faint">Turnspan {around.answer?.version ?? ""}</p>
        </Panel>
      </div>
    </>
  );
}

function Page({ serving }: { serving: Serving }) {
  return (
    <Facts>
      <Fact name="this page">{plain(serving.address)}</Fact>
      <Fact name="answers to">{plain(serving.names.join(", "))}</Fact>
      <Fact name="token in">
        {plain(serving.token_file)} <Command line="turnspan console --new-token" />
      </Fact>
    </Facts>
  );
}

function Receivers({ receivers }: { receivers: readonly ReceiverShown[] }) {
  if (!receivers.length) {
    return (
      <p class="faint">
        Nobody takes OTLP for this store on this machine: <Command line="turnspan receive" /> does,
        and <code>turnspan console</code> without <code>--no-receive</code>.
      </p>
    );
  }
  return (
    <Facts>
      {receivers.map((one) => (
        <Fact key={`${one.address} ${one.since}`} name="OTLP on">
          {plain(one.address)} · {counted(one.spans, "span")} since <When time={one.since} />
        </Fact>
      ))}
    </Facts>
  );
}

function Recording({ settings }: { settings: readonly SettingShown[] }) {
  return (
    <>
      <table class="list">
        <thead>
          <tr>
            <th>what it decides</th>
            <th>value</th>
            <th>variable</th>
          </tr>
        </thead>
        <tbody>
          {settings.map((one) => (
            <tr key={one.name}>
              <td>{one.meaning}</td>
              <td data-label="value">
                {plain(one.value) || UNKNOWN}
                {!one.given && <span class="faint"> (default)</span>}
              </td>
              <td class="mono">{one.variable}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="faint">
        Of an application that is started where this page was. Arguments of{" "}
        <code>turnspan.configure()</code> and another process's variables are its own.
      </p>
    </>
  );
}

function Kept({ retention }: { retention: Retention }) {
  const [asking, setAsking] = useState(false);
  const [ran, setRan] = useState<DryRun | null>(null);
  const [error, setError] = useState("");
  const run = () => {
    setAsking(true);
    ask("POST /api/settings/retention", { window_days: retention.window_days })
      .then(({ answer }) => {
        setRan(answer);
        setError("");
      })
      .catch((failed: Error) => setError(failed.message))
      .finally(() => setAsking(false));
  };
  return (
    <>
      <p>
        <code>turnspan retain --apply</code> takes, unless it is given another policy: turns that
        nobody flagged, {count(retention.window_days)} days after they began; those flagged as to be
        left out, at once; those flagged as good, when they are archived in{" "}
        {plain(retention.archive)}; contents that no record names any more, after{" "}
        {counted(retention.content_days, "day")}.{" "}
        {retention.summary_texts === "keep" ? "Summaries keep" : "Summaries lose"} their texts.
        Nothing goes unless somebody runs it.
      </p>
      {retention.lives.length === 0 && (
        <p class="faint">No table has a time to live: the engine itself deletes nothing.</p>
      )}
      <Facts>
        {retention.lives.map((one) => (
          <Fact key={one.table} name={`${one.table} lives until`}>
            {plain(one.rule)}
          </Fact>
        ))}
      </Facts>
      <p>
        <button type="button" disabled={asking} onClick={run}>
          {asking ? "Looking …" : "What would go now?"}
        </button>{" "}
        <Command line="turnspan retain --dry-run" />
      </p>
      {error && (
        <p class="problem" role="alert">
          {visible(error)}
        </p>
      )}
      {ran && <Going ran={ran} />}
    </>
  );
}

function Going({ ran }: { ran: DryRun }) {
  return (
    <>
      <p role="status">{counted(ran.rows, "row")} would go. Nothing was deleted.</p>
      {ran.going.length > 0 && (
        <table class="list">
          <thead>
            <tr>
              <th>table</th>
              <th>why</th>
              <th class="number">rows</th>
              <th class="number">about</th>
            </tr>
          </thead>
          <tbody>
            {ran.going.map((one) => (
              <tr key={`${one.table} ${one.reason}`}>
                <td>{one.table}</td>
                <td>{plain(one.reason)}</td>
                <td class="number" data-label="rows">
                  {count(one.rows)}
                </td>
                <td class="number">{bytes(one.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function JaegerField() {
  const [wrong, setWrong] = useState(false);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const taken = setJaeger(String(form.get("jaeger") ?? ""));
    setWrong(!taken);
    if (taken) announce(jaeger.value ? "Traces link to Jaeger" : "Traces have no link");
  };
  return (
    <form onSubmit={submit}>
      <label>
        Jaeger, for links from traces:{" "}
        <input
          name="jaeger"
          type="text"
          inputMode="url"
          placeholder="http://127.0.0.1:16686"
          defaultValue={jaeger.value}
          aria-invalid={wrong}
          aria-describedby={wrong ? "jaeger-wrong" : undefined}
        />
      </label>{" "}
      <button type="submit">Save</button>
      {wrong && (
        <p class="problem" role="alert" id="jaeger-wrong">
          That is no address: it begins with http:// or https://.
        </p>
      )}
    </form>
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

function Places({ told }: { told: Surroundings }) {
  return (
    <Facts>
      <Fact name="store">{plain(told.store)}</Fact>
      <Fact name="spool">{plain(told.spool)}</Fact>
      <Fact name="versions, too">
        <Command line="turnspan status" />
      </Fact>
    </Facts>
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
