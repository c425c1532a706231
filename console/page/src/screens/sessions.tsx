// Sessions, those with the newest turns first.
import { useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { End } from "../parts/end";
import { Facets } from "../parts/facets";
import { FilterBar } from "../parts/filter_bar";
import { useCursor } from "../parts/list";
import { ListScreen } from "../parts/list_screen";
import { count, dollars, When } from "../parts/numbers";
import { type Column, Table } from "../parts/table";
import { label, plain } from "../parts/text";
import type { SessionRow } from "../types";
import { go, windowQuery } from "../url";
import { usePages } from "../use_pages";
import { Failed, NoTurns, replayOf, TOOLS, UserMessage, wantedQuery } from "./turns";

export function Sessions() {
  const query = wantedQuery();
  const { pages, ...list } = usePages("GET /api/sessions", query);
  const sessions = pages.flatMap((page) => page.sessions);
  return (
    <>
      <h1>Sessions</h1>
      <FilterBar text={false} />
      <div class="with-facets">
        <Facets query={query} />
        <div>
          <ListScreen
            command={commandLine(["sessions"], windowQuery())}
            noun="session"
            rows={sessions}
            empty={<NoTurns filtered={query.filter} />}
            {...list}
          >
            <Grid sessions={sessions} />
          </ListScreen>
        </div>
      </div>
    </>
  );
}

const keyOf = ({ project, session }: SessionRow) => `${project}/${session}`;

const COLUMNS: readonly Column<SessionRow>[] = [
  { head: "last turn", show: ({ time }) => <When time={time} /> },
  {
    head: "session",
    look: "name",
    show: (row) => (
      <a href={replayOf(row)} tabIndex={-1} title={plain(row.session)}>
        {label(row.session)}
      </a>
    ),
  },
  {
    head: "ended",
    show: ({ end, problems }) => (
      <>
        <End end={end} />
        <Failed number={problems} />
      </>
    ),
  },
  { head: "turns", look: "count", show: ({ turns }) => count(turns) },
  { head: "calls", look: "count", show: ({ calls }) => count(calls) },
  TOOLS,
  { head: "cost", look: "number", show: ({ cost_usd }) => dollars(cost_usd) },
  {
    head: "first user message",
    look: "said",
    show: ({ user_message }) => <UserMessage text={user_message} />,
  },
];

function Grid({ sessions }: { sessions: readonly SessionRow[] }) {
  const cursor = useCursor(sessions, keyOf, ({ problems }) => problems > 0);
  const chosen = sessions[cursor.at];
  useKeys({
    open: chosen && (() => go(replayOf(chosen))),
    copyId: chosen && (() => copy(chosen.session, "the session's id")),
  });
  return <Table label="Sessions" columns={COLUMNS} rows={sessions} keyOf={keyOf} cursor={cursor} />;
}
