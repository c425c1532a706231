// Is everything landing, what is in the store, and how does the page look?
import { useState } from "preact/hooks";
import { ask } from "../api";
import { jaeger, setJaeger } from "../frame/jaeger";
import { KeysSwitch } from "../frame/keys_switch";
import { announce } from "../frame/live";
import { useStatus } from "../frame/status";
import { nextTheme, theme } from "../frame/theme";
import { Command, commandLine } from "../parts/copy";
import { Icon, type IconName } from "../parts/icon";
import { KeyButton } from "../parts/key_button";
import { bytes, count, counted, UNKNOWN, When } from "../parts/numbers";
import { Panel, usePanelKeys } from "../parts/panel";
import { Answered, Problem } from "../parts/states";
import { type Column, Table } from "../parts/table";
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

const MARKS: Readonly<Record<string, readonly [IconName, string]>> = {
  ok: ["circle-check", "good"],
  warn: ["triangle-alert", "warn"],
  fail: ["circle-x", "bad"],
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
        <Panel title="Checks">
          <Answered asked={asked}>{(answer) => <Checks checks={answer.checks} />}</Answered>
          <Answered asked={around}>{(answer) => <Checks checks={answer.checks} />}</Answered>
        </Panel>
        <Panel title="Servers">
          <Answered asked={serving}>{(answer) => <Page serving={answer} />}</Answered>
          <Answered asked={around}>
            {(answer) => <Receivers receivers={answer.receivers} />}
          </Answered>
        </Panel>
        <Panel title="Recording">
          <Answered asked={around}>
            {(answer) => <Recording settings={answer.recording} />}
          </Answered>
        </Panel>
        <Panel title="Retention">
          <Answered asked={asked}>{(answer) => <Kept retention={answer.retention} />}</Answered>
        </Panel>
        <Panel title="Store">
          <Answered asked={around}>{(answer) => <Places answer={answer} />}</Answered>
          <Answered asked={asked}>
            {(answer) => (
              <Table columns={TABLES} rows={answer.tables} keyOf={({ table }) => table} />
            )}
          </Answered>
        </Panel>
        <Panel title="This page">
          <p>
            <KeyButton action="theme" act={nextTheme} bare>
              Theme: {theme.value}
            </KeyButton>
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
      <Fact name="host names">{plain(serving.names.join(", "))}</Fact>
      <Fact name="token file">
        {plain(serving.token_file)} <Command line="turnspan console --new-token" />
      </Fact>
    </Facts>
  );
}

function Receivers({ receivers }: { receivers: readonly ReceiverShown[] }) {
  if (!receivers.length) {
    return (
      <p class="faint">
        No receiver takes OTLP for this store on this machine. Start one:{" "}
        <Command line="turnspan receive" /> or <code>turnspan console</code> without{" "}
        <code>--no-receive</code>.
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

const SETTINGS: readonly Column<SettingShown>[] = [
  { head: "setting", show: ({ meaning }) => meaning },
  {
    head: "value",
    look: "labelled",
    show: ({ value, given }) => (
      <>
        {plain(value) || UNKNOWN}
        {!given && <span class="faint"> (default)</span>}
      </>
    ),
  },
  { head: "variable", look: "mono", show: ({ variable }) => variable },
];

function Recording({ settings }: { settings: readonly SettingShown[] }) {
  return (
    <>
      <Table columns={SETTINGS} rows={settings} keyOf={({ name }) => name} />
      <p class="faint">
        These values hold for an application with the environment of this page. Arguments of{" "}
        <code>turnspan.configure()</code> override them.
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
        Without another policy, <code>turnspan retain --apply</code> deletes unflagged turns{" "}
        {count(retention.window_days)} days after they start, excluded ones at once, and good ones
        once they are archived in {plain(retention.archive)}. It deletes contents that no record
        refers to after {counted(retention.content_days, "day")}.{" "}
        {retention.summary_texts === "keep" ? "Summaries keep" : "Summaries lose"} their texts.
        Nothing is deleted until somebody runs it.
      </p>
      {retention.lives.length === 0 && (
        <p class="faint">No table has a TTL: the engine deletes nothing by itself.</p>
      )}
      <Facts>
        {retention.lives.map((one) => (
          <Fact key={one.table} name={`${one.table}: TTL`}>
            {plain(one.rule)}
          </Fact>
        ))}
      </Facts>
      <p>
        <button type="button" disabled={asking} onClick={run}>
          {asking ? "Looking …" : "What would be deleted now?"}
        </button>{" "}
        <Command line="turnspan retain --dry-run" />
      </p>
      {error && <Problem message={error} />}
      {ran && <Going ran={ran} />}
    </>
  );
}

const GOING: readonly Column<DryRun["going"][number]>[] = [
  { head: "table", show: ({ table }) => table },
  { head: "why", show: ({ reason }) => plain(reason) },
  { head: "rows", look: "count", show: ({ rows }) => count(rows) },
  { head: "about", look: "number", show: (part) => bytes(part.bytes) },
];

function Going({ ran }: { ran: DryRun }) {
  return (
    <>
      <p role="status">{counted(ran.rows, "row")} would be deleted. Nothing was deleted.</p>
      {ran.going.length > 0 && (
        <Table
          columns={GOING}
          rows={ran.going}
          keyOf={({ table, reason }) => `${table} ${reason}`}
        />
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
        Jaeger address, for links from traces:{" "}
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
          Enter an address that begins with http:// or https://.
        </p>
      )}
    </form>
  );
}

function Checks({ checks }: { checks: readonly Check[] }) {
  return (
    <ul class="looks checks">
      {checks.map((one) => {
        const [mark, tone] = MARKS[one.level] ?? ["circle-stop", "faint"];
        return (
          <li key={`${one.area} ${one.name} ${one.finding}`} data-level={one.level}>
            <span class={tone} role="img" aria-label={one.level}>
              <Icon name={mark} />
            </span>{" "}
            {one.area} · {one.name}: {visible(one.finding)}
            {one.remedy && (
              <p class="faint">
                <Icon name="arrow-right" /> {visible(one.remedy)}
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Places({ answer }: { answer: Surroundings }) {
  return (
    <Facts>
      <Fact name="store">{plain(answer.store)}</Fact>
      <Fact name="spool">{plain(answer.spool)}</Fact>
      <Fact name="versions">
        <Command line="turnspan status" />
      </Fact>
    </Facts>
  );
}

const TABLES: readonly Column<SettingsAnswer["tables"][number]>[] = [
  { head: "table", show: ({ table }) => table },
  { head: "rows", look: "count", show: ({ rows }) => count(rows) },
  { head: "on disk", look: "number", show: (table) => bytes(table.bytes) },
  { head: "parts", look: "count", show: ({ parts }) => count(parts) },
];
