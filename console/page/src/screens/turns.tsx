// Turns, newest first: which ones?
import { useState } from "preact/hooks";
import { useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { End } from "../parts/end";
import { Facets } from "../parts/facets";
import { FilterBar } from "../parts/filter_bar";
import { Histogram } from "../parts/histogram";
import { Hits } from "../parts/hits";
import { useCursor } from "../parts/list";
import { ListScreen } from "../parts/list_screen";
import { count, dollars, seconds, UNKNOWN, When } from "../parts/numbers";
import { Nothing } from "../parts/states";
import { type Column, Table } from "../parts/table";
import { Line, plain, Verbatim } from "../parts/text";
import type { TurnRow } from "../types";
import { go, param, windowQuery, withParams } from "../url";
import { usePages } from "../use_pages";
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

function List() {
  const query = wantedQuery();
  const { pages, ...list } = usePages("GET /api/turns", query);
  const turns = pages.flatMap((page) => page.turns);
  return (
    <div class="with-facets">
      <Facets query={query} />
      <div>
        <Histogram query={query} />
        <ListScreen
          command={commandLine(["turns"], query)}
          noun="turn"
          rows={turns}
          empty={<NoTurns filtered={query.filter} />}
          {...list}
        >
          <Grid turns={turns} />
        </ListScreen>
      </div>
    </div>
  );
}

/** How many tools ran, and failed. */
export const TOOLS: Column<Pick<TurnRow, "tools" | "failed_tools">> = {
  head: "tools",
  look: "count",
  show: ({ tools, failed_tools }) => (
    <>
      {count(tools)}
      <Failed number={failed_tools} />
    </>
  ),
};

const COLUMNS: readonly Column<TurnRow>[] = [
  { head: "agent", look: "name", show: ({ agent }) => plain(agent) },
  {
    head: "ended",
    show: ({ end, stop_reason, stop_detail }) => (
      <End end={end} title={plain(`${stop_reason} ${stop_detail}`.trim())} />
    ),
  },
  { head: "rounds", look: "count", show: ({ rounds }) => count(rounds) },
  TOOLS,
  { head: "cost", look: "number", show: ({ cost_usd }) => dollars(cost_usd) },
  {
    head: "took",
    look: "number",
    show: ({ status, duration }) => (status === "running" ? UNKNOWN : seconds(duration)),
  },
  {
    head: "user message",
    look: "said",
    show: (turn) => (
      <a href={replayOf(turn)} tabIndex={-1}>
        <UserMessage text={turn.user_message} />
      </a>
    ),
  },
];

function Grid({ turns }: { turns: readonly TurnRow[] }) {
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
  const isSelected = ({ turn }: TurnRow) => selected.includes(turn);
  const time: Column<TurnRow> = {
    head: "time",
    show: (turn) => (
      <>
        {isSelected(turn) && <span title="Selected">☑ </span>}
        <When time={turn.time} />
      </>
    ),
  };
  const chosen = turns.filter(isSelected);
  return (
    <>
      {chosen.length > 0 && <Selected turns={chosen} clear={() => setSelected([])} />}
      <div class={peeking ? "peeking" : undefined}>
        <Table
          label="Turns"
          columns={[time, ...COLUMNS]}
          rows={turns}
          keyOf={keyOf}
          cursor={cursor}
          clicks
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
  return number > 0 ? <span class="bad"> ✗{number}</span> : null;
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
        {turn.models.map(plain).join(", ") || "no model"} · {count(turn.input_tokens)} →{" "}
        {count(turn.output_tokens)} tokens
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

export function replayOf(turn: { project: string; session: string; turn?: string }): string {
  return withParams(["s", turn.project, turn.session], { at: turn.turn ?? "" });
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
