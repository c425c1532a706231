// Sessions, those with the newest turns first.
import { useKeys } from "../keys";
import { useColumns } from "../parts/columns";
import { commandLine, copy } from "../parts/copy";
import { End } from "../parts/end";
import { Facets } from "../parts/facets";
import { FilterBar } from "../parts/filter_bar";
import { useCursor } from "../parts/list";
import { ListScreen } from "../parts/list_screen";
import { count, dollars, When } from "../parts/numbers";
import { SortChoice } from "../parts/sorting";
import { type Column, sortables, Table } from "../parts/table";
import { label, plain } from "../parts/text";
import { replayOf } from "../places";
import type { SessionRow, SessionsPage } from "../types";
import { go, param, windowQuery } from "../url";
import { useRows } from "../use_rows";
import { NoTurns, TOOLS, UserMessage, wantedQuery } from "./turns";

const INITIAL = "-time";

export function Sessions() {
  const query = wantedQuery();
  const asked = { ...query, sort: param("sort") };
  const { rows, fresh, ...list } = useRows("GET /api/sessions", asked, sessionsOf, keyOf);
  const { shown, chooser } = useColumns("sessions", COLUMNS, USUAL);
  const columns = [SESSION, ...shown];
  return (
    <>
      <h1>Sessions</h1>
      <FilterBar text={false} />
      <div class="with-facets">
        <Facets query={query} />
        <div>
          <ListScreen
            command={commandLine(["sessions"], { ...windowQuery(), sort: asked.sort })}
            noun="session"
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
            <Grid sessions={rows} columns={columns} />
          </ListScreen>
        </div>
      </div>
    </>
  );
}

const sessionsOf = ({ sessions }: SessionsPage) => sessions;
const keyOf = ({ project, session }: SessionRow) => `${project}/${session}`;

/** What was said first, and below it what the session is. */
const SESSION: Column<SessionRow> = {
  head: "first user message",
  sort: "message",
  below: [
    { head: "last ended", sort: "stop" },
    { head: "session", sort: "session" },
  ],
  look: "said",
  show: (row) => (
    <>
      <a href={replayOf(row)} tabIndex={-1}>
        <UserMessage text={row.user_message} />
      </a>
      <span class="below">
        <End end={row.end} />
        <a class="name" href={replayOf(row)} tabIndex={-1} title={plain(row.session)}>
          {label(row.session)}
        </a>
      </span>
    </>
  ),
};

const COLUMNS: readonly Column<SessionRow>[] = [
  { head: "last turn", sort: "-time", show: ({ time }) => <When time={time} /> },
  { head: "turns", sort: "-turns", look: "count", show: ({ turns }) => count(turns) },
  {
    head: "problems",
    sort: "-problems",
    look: "count",
    show: ({ problems }) => <span class={problems ? "bad" : undefined}>{count(problems)}</span>,
  },
  { head: "calls", sort: "-calls", look: "count", show: ({ calls }) => count(calls) },
  TOOLS,
  { head: "cost", sort: "-cost", look: "number", show: ({ cost_usd }) => dollars(cost_usd) },
  { head: "project", sort: "project", look: "name", show: ({ project }) => label(project) },
];
const USUAL = ["last turn", "turns", "problems", "calls", "tools", "cost"];

interface GridProps {
  sessions: readonly SessionRow[];
  columns: readonly Column<SessionRow>[];
}

function Grid({ sessions, columns }: GridProps) {
  const cursor = useCursor(sessions, keyOf, ({ problems }) => problems > 0);
  const chosen = sessions[cursor.at];
  useKeys({
    open: chosen && (() => go(replayOf(chosen))),
    copyId: chosen && (() => copy(chosen.session, "the session's id")),
  });
  return (
    <Table
      label="Sessions"
      columns={columns}
      rows={sessions}
      keyOf={keyOf}
      cursor={cursor}
      sort={INITIAL}
      open={(row) => go(replayOf(row))}
    />
  );
}
