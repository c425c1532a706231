// Turns, newest first: which ones?
import { useState } from "preact/hooks";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { End } from "../parts/end";
import { Facets } from "../parts/facets";
import { FilterBar } from "../parts/filter_bar";
import { Histogram } from "../parts/histogram";
import { Hits } from "../parts/hits";
import { useCursor } from "../parts/list";
import { count, counted, dollars, seconds, UNKNOWN, When } from "../parts/numbers";
import { openSql, RowsShown } from "../parts/rows_shown";
import { Answered, Nothing, Refused } from "../parts/states";
import { Line, plain, Verbatim } from "../parts/text";
import type { TurnRow } from "../types";
import { go, param, withParams } from "../url";
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

export function wantedOf() {
  const { project, since, until } = {
    project: param("project"),
    since: param("since"),
    until: param("until"),
  };
  return { project, since, until, filter: param("f") };
}

function List() {
  const query = wantedOf();
  const { first, pages, more, error } = usePages("GET /api/turns", query);
  const turns = pages.flatMap((page) => page.turns);
  const rows = first.answer ? `${counted(turns.length, "turn")}${more ? " so far" : ""}` : "";
  const sql = first.answer?.sql;
  useStatus(commandLine(["turns"], query), rows);
  useKeys({ sql: openSql(sql) });
  return (
    <div class="with-facets">
      <Facets query={query} />
      <div>
        <Histogram query={query} />
        <Answered asked={first}>
          {() =>
            turns.length ? (
              <>
                <RowsShown name="turns" sql={sql} each={turns} />
                <Table turns={turns} />
              </>
            ) : (
              <NoTurns filtered={query.filter} />
            )
          }
        </Answered>
        <Refused error={error} />
        {more && (
          <button type="button" class="more" onClick={more}>
            Older turns
          </button>
        )}
      </div>
    </div>
  );
}

function Table({ turns }: { turns: readonly TurnRow[] }) {
  const { at, move, body } = useCursor(turns.map((turn) => turn.turn));
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [peeking, setPeeking] = useState(false);
  // Before a key has moved the cursor it is the first row: the one that Tab reaches.
  const current = turns[Math.max(at, 0)];
  const jump = (by: 1 | -1) => {
    for (let to = at + by; to >= 0 && to < turns.length; to += by) {
      if (turns[to]?.end !== "completed") return move(to - at);
    }
    return false;
  };
  const select = (id: string) =>
    setChosen((now) => (now.includes(id) ? now.filter((one) => one !== id) : [...now, id]));
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    nextProblem: () => jump(1),
    previousProblem: () => jump(-1),
    ...(current
      ? {
          open: () => go(replayOf(current)),
          select: () => select(current.turn),
          peek: () => setPeeking((now) => !now),
          judge: () => go(withParams(["review"], { of: current.project, at: current.turn })),
          copyId: () => copy(current.turn, "the turn's id"),
        }
      : {}),
    ...(peeking ? { out: () => setPeeking(false) } : {}),
  });
  const selected = turns.filter((turn) => chosen.includes(turn.turn));
  return (
    <>
      {selected.length > 0 && <Selected turns={selected} clear={() => setChosen([])} />}
      <div class={peeking ? "peeking" : undefined}>
        <table class="list" role="grid" aria-label="Turns" aria-multiselectable="true">
          <Head />
          <tbody ref={body}>
            {turns.map((turn, index) => (
              <Row
                key={turn.turn}
                turn={turn}
                current={index === at}
                reached={index === Math.max(at, 0)}
                chosen={chosen.includes(turn.turn)}
                come={() => move(index - at)}
              />
            ))}
          </tbody>
        </table>
        {peeking && current && <Peek turn={current} />}
      </div>
    </>
  );
}

function Head() {
  return (
    <thead>
      <tr>
        <th>time</th>
        <th>agent</th>
        <th>ended</th>
        <th class="number">rounds</th>
        <th class="number">tools</th>
        <th class="number">cost</th>
        <th class="number">took</th>
        <th>user said</th>
      </tr>
    </thead>
  );
}

interface RowProps {
  turn: TurnRow;
  current: boolean;
  reached: boolean;
  chosen: boolean;
  come: () => void;
}

function Row({ turn, current, reached, chosen, come }: RowProps) {
  const click = (event: MouseEvent) => {
    if (!(event.target instanceof Element && event.target.closest("a"))) come();
  };
  return (
    <tr
      tabIndex={reached ? 0 : -1}
      aria-selected={current}
      class={chosen ? "chosen" : undefined}
      onClick={click}
    >
      <td>
        {chosen && <span title="Selected">☑ </span>}
        <When time={turn.time} />
      </td>
      <td class="name">{plain(turn.agent)}</td>
      <td>
        <End end={turn.end} title={plain(`${turn.stop_reason} ${turn.stop_detail}`.trim())} />
      </td>
      <td class="number" data-label="rounds">
        {count(turn.rounds)}
      </td>
      <td class="number" data-label="tools">
        {count(turn.tools)}
        {turn.failed_tools > 0 && <span class="bad"> ✗{turn.failed_tools}</span>}
      </td>
      <td class="number">{dollars(turn.cost_usd)}</td>
      <td class="number">{turn.status === "running" ? UNKNOWN : seconds(turn.duration)}</td>
      <td class="said">
        <a href={replayOf(turn)} tabIndex={-1}>
          <Said text={turn.user_message} />
        </a>
      </td>
    </tr>
  );
}

export function Said({ text }: { text: string }) {
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
      <Nothing title="No turn passes this filter.">
        <p>Take a term away above, or look at a longer time.</p>
      </Nothing>
    );
  }
  return (
    <Nothing title="No turns here.">
      <p>
        A turn is what an agent does with one user input. Record some with{" "}
        <code>turnspan.configure()</code> and <code>@turnspan.agent</code>, play recorded ones with{" "}
        <code>turnspan demo</code>, or look at a longer time above.
      </p>
    </Nothing>
  );
}
