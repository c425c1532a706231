// Turns, newest first: which ones?
import { useLayoutEffect, useState } from "preact/hooks";
import { useKeys } from "../keys";
import { useColumns } from "../parts/columns";
import { commandLine, copy } from "../parts/copy";
import { End } from "../parts/end";
import { Facets } from "../parts/facets";
import { FilterBar } from "../parts/filter_bar";
import { Histogram } from "../parts/histogram";
import { Hits } from "../parts/hits";
import { Icon } from "../parts/icon";
import { useCursor } from "../parts/list";
import { ListScreen } from "../parts/list_screen";
import { count, dollars, seconds, tokensUsed, UNKNOWN, When } from "../parts/numbers";
import { SortChoice } from "../parts/sorting";
import { Nothing } from "../parts/states";
import { type Column, sortables, Table } from "../parts/table";
import { Line, label, plain, Verbatim } from "../parts/text";
import { replayOf } from "../places";
import type { TurnRow, TurnsPage } from "../types";
import { go, param, windowQuery, withParams } from "../url";
import { useRows } from "../use_rows";
import { Selected } from "./turns_selected";

export function Turns() {
  const text = param("q");
  return (
    <>
      <h1>Turns</h1>
      <FilterBar text />
      {text ? <Hits text={text} /> : <List />}
    </>
  );
}

export function wantedQuery() {
  return { ...windowQuery(), filter: param("f") };
}

const INITIAL = "-time";

function List() {
  const query = wantedQuery();
  const asked = { ...query, sort: param("sort") };
  const { rows, fresh, ...list } = useRows("GET /api/turns", asked, turnsOf, keyOf);
  const { shown, chooser } = useColumns("turns", COLUMNS, USUAL);
  const columns = [TURN, ...shown];
  return (
    <div class="with-facets">
      <Facets query={query} />
      <div>
        <Histogram query={query} />
        <ListScreen
          command={commandLine(["turns"], asked)}
          noun="turn"
          rows={rows}
          fresh={fresh}
          empty={<NoTurns filtered={query.filter} />}
          tools={
            <>
              <SortChoice columns={sortables(columns)} initial={INITIAL} />
              {chooser}
            </>
          }
          {...list}
        >
          <Grid turns={rows} columns={columns} />
        </ListScreen>
      </div>
    </div>
  );
}

const turnsOf = ({ turns }: TurnsPage) => turns;

/** How many tools ran, and failed. */
export const TOOLS: Column<Pick<TurnRow, "tools" | "failed_tools">> = {
  head: "tools",
  sort: "-tools",
  look: "count",
  show: ({ tools, failed_tools }) => (
    <>
      {count(tools)}
      <Failed number={failed_tools} />
    </>
  ),
};

/** What was said, and below it what the turn is. */
const TURN: Column<TurnRow> = {
  head: "user message",
  sort: "message",
  below: [
    { head: "ended", sort: "stop" },
    { head: "agent", sort: "agent" },
  ],
  look: "said",
  show: (turn) => (
    <>
      <a href={replayOf(turn)} tabIndex={-1}>
        <UserMessage text={turn.user_message} />
      </a>
      <span class="below">
        <End end={turn.end} title={plain(`${turn.stop_reason} ${turn.stop_detail}`.trim())} />
        <span>{plain(turn.agent)}</span>
        <span class="faint">{turn.models.map(plain).join(", ")}</span>
      </span>
    </>
  ),
};

const COLUMNS: readonly Column<TurnRow>[] = [
  { head: "time", sort: "-time", show: ({ time }) => <When time={time} /> },
  { head: "rounds", sort: "-rounds", look: "count", show: ({ rounds }) => count(rounds) },
  { head: "calls", sort: "-calls", look: "count", show: ({ calls }) => count(calls) },
  TOOLS,
  { head: "input", sort: "-input", look: "count", show: (turn) => count(turn.input_tokens) },
  { head: "output", sort: "-output", look: "count", show: (turn) => count(turn.output_tokens) },
  { head: "cost", sort: "-cost", look: "number", show: ({ cost_usd }) => dollars(cost_usd) },
  {
    head: "duration",
    sort: "-seconds",
    look: "number",
    show: ({ status, duration }) => (status === "running" ? UNKNOWN : seconds(duration)),
  },
  named("session", ({ session }) => session),
  named("user", ({ user_id }) => user_id),
  named("version", ({ version }) => version),
  named("service", ({ service }) => service),
  named("environment", ({ environment }) => environment),
  named("error", ({ error_type }) => error_type),
  named("project", ({ project }) => project),
];
const USUAL = ["time", "rounds", "tools", "cost", "duration"];

function named(head: string, value: (turn: TurnRow) => string): Column<TurnRow> {
  const show = (turn: TurnRow) => <span title={plain(value(turn))}>{label(value(turn))}</span>;
  return { head, sort: head, look: "name", show };
}

interface GridProps {
  turns: readonly TurnRow[];
  columns: readonly Column<TurnRow>[];
}

function Grid({ turns, columns }: GridProps) {
  const cursor = useCursor(turns, keyOf, ({ end }) => end !== "completed");
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [peeking, setPeeking] = useState(false);
  // Before a key has moved the cursor it is the first row: the one that Tab reaches.
  const current = turns[Math.max(cursor.at, 0)];
  const select = (id: string) =>
    setSelected((now) => (now.includes(id) ? now.filter((other) => other !== id) : [...now, id]));
  useKeys({
    ...(current && {
      open: () => go(replayOf(current)),
      select: () => select(current.turn),
      peek: () => setPeeking((now) => !now),
      judge: () => go(withParams(["review"], { of: current.project, at: current.turn })),
      copyId: () => copy(current.turn, "the turn's id"),
    }),
    out: peeking && (() => setPeeking(false)),
  });
  useLayoutEffect(() => {
    const row = cursor.body.current?.querySelector('[aria-selected="true"]');
    if (peeking) row?.scrollIntoView({ block: "nearest" });
  }, [peeking, cursor.body]);
  const isSelected = ({ turn }: TurnRow) => selected.includes(turn);
  const choice: Column<TurnRow> = {
    head: "selected",
    look: "choice",
    show: (turn) => (
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Select turn ${label(turn.turn)}`}
        checked={isSelected(turn)}
        onChange={() => select(turn.turn)}
      />
    ),
  };
  const chosen = turns.filter(isSelected);
  return (
    <>
      {chosen.length > 0 && <Selected turns={chosen} clear={() => setSelected([])} />}
      <div class={peeking ? "peeking" : undefined}>
        <Table
          label="Turns"
          columns={[choice, ...columns]}
          rows={turns}
          keyOf={keyOf}
          cursor={cursor}
          sort={INITIAL}
          open={(turn) => go(replayOf(turn))}
          severalChosen
          attributes={(turn) => ({ class: isSelected(turn) ? "chosen" : undefined })}
        />
        {peeking && current && <Peek turn={current} />}
      </div>
    </>
  );
}

const keyOf = ({ turn }: TurnRow) => turn;

/** How many of them went wrong, where some did. */
export function Failed({ number }: { number: number }) {
  if (number <= 0) return null;
  return (
    <span class="bad">
      {" "}
      <Icon name="circle-x" />
      {count(number)}
      <span class="hidden"> failed</span>
    </span>
  );
}

export function UserMessage({ text }: { text: string }) {
  return text ? <Line text={text} /> : <span class="missing">not recorded</span>;
}

function Peek({ turn }: { turn: TurnRow }) {
  const more = (text: string) => (text.length >= 240 ? " …" : "");
  return (
    <aside class="peek" aria-label="The chosen turn">
      <h2>
        <End end={turn.end} /> {plain(turn.stop_detail)}
      </h2>
      <p class="faint">
        {turn.models.map(plain).join(", ") || "no model"} ·{" "}
        {tokensUsed(turn.input_tokens, turn.output_tokens)}
      </p>
      <h2>user</h2>
      <Verbatim text={turn.user_message + more(turn.user_message)} />
      <h2>agent</h2>
      <Verbatim text={turn.reply + more(turn.reply)} />
      <p>
        <a href={replayOf(turn)}>Open the session</a>
      </p>
    </aside>
  );
}

export function NoTurns({ filtered }: { filtered: string }) {
  if (filtered) {
    return (
      <Nothing title="No turn matches this filter.">
        <p>Remove a term above, or choose a longer time.</p>
      </Nothing>
    );
  }
  return (
    <Nothing title="No turns here.">
      <p>
        A turn is what an agent does with one user input. Record some with{" "}
        <code>turnspan.configure()</code> and <code>@turnspan.agent</code>, play recorded ones with{" "}
        <code>turnspan demo</code>, or choose a longer time above.
      </p>
    </Nothing>
  );
}
