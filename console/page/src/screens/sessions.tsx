// Sessions, those with the newest turns first.
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { End } from "../parts/end";
import { Facets } from "../parts/facets";
import { FilterBar } from "../parts/filter_bar";
import { useCursor } from "../parts/list";
import { count, counted, dollars, When } from "../parts/numbers";
import { openSql, RowsShown } from "../parts/rows_shown";
import { Answered, Refused } from "../parts/states";
import { label, plain } from "../parts/text";
import type { SessionRow } from "../types";
import { go } from "../url";
import { usePages } from "../use_pages";
import { NoTurns, replayOf, Said, wantedOf } from "./turns";

export function Sessions() {
  const query = wantedOf();
  const { first, pages, more, error } = usePages("GET /api/sessions", query);
  const sessions = pages.flatMap((page) => page.sessions);
  const rows = first.answer ? `${counted(sessions.length, "session")}${more ? " so far" : ""}` : "";
  const { filter: _, ...known } = query;
  useStatus(commandLine(["sessions"], known), rows);
  useKeys({ sql: openSql(first.answer?.sql) });
  return (
    <>
      <h1>Sessions</h1>
      <FilterBar text={false} />
      <div class="with-facets">
        <Facets query={query} />
        <div>
          <Answered asked={first}>
            {() =>
              sessions.length ? (
                <>
                  <RowsShown name="sessions" sql={first.answer?.sql} each={sessions} />
                  <Table sessions={sessions} />
                </>
              ) : (
                <NoTurns filtered={query.filter} />
              )
            }
          </Answered>
          <Refused error={error} />
          {more && (
            <button type="button" class="more" onClick={more}>
              Older sessions
            </button>
          )}
        </div>
      </div>
    </>
  );
}

function Table({ sessions }: { sessions: readonly SessionRow[] }) {
  const { at, move, body } = useCursor(sessions.map((one) => `${one.project}/${one.session}`));
  const current = sessions[at];
  const jump = (by: 1 | -1) => {
    for (let to = at + by; to >= 0 && to < sessions.length; to += by) {
      if (sessions[to]?.problems) return move(to - at);
    }
    return false;
  };
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    nextProblem: () => jump(1),
    previousProblem: () => jump(-1),
    ...(current
      ? {
          open: () => go(replayOf(current)),
          copyId: () => copy(current.session, "the session's id"),
        }
      : {}),
  });
  return (
    <table class="list" role="grid" aria-label="Sessions">
      <thead>
        <tr>
          <th>last turn</th>
          <th>session</th>
          <th>ended</th>
          <th class="number">turns</th>
          <th class="number">calls</th>
          <th class="number">tools</th>
          <th class="number">cost</th>
          <th>user said first</th>
        </tr>
      </thead>
      <tbody ref={body}>
        {sessions.map((one, index) => (
          <tr
            key={`${one.project}/${one.session}`}
            tabIndex={index === Math.max(at, 0) ? 0 : -1}
            aria-selected={index === at}
          >
            <td>
              <When time={one.time} />
            </td>
            <td class="name">
              <a href={replayOf(one)} tabIndex={-1} title={plain(one.session)}>
                {label(one.session)}
              </a>
            </td>
            <td>
              <End end={one.end} />
              {one.problems > 0 && <span class="bad"> ✗{one.problems}</span>}
            </td>
            <td class="number" data-label="turns">
              {count(one.turns)}
            </td>
            <td class="number" data-label="calls">
              {count(one.calls)}
            </td>
            <td class="number" data-label="tools">
              {count(one.tools)}
              {one.failed_tools > 0 && <span class="bad"> ✗{one.failed_tools}</span>}
            </td>
            <td class="number">{dollars(one.cost_usd)}</td>
            <td class="said">
              <Said text={one.user_message} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
