// Where a text stands, newest first, and how far back it was looked for.
import { useEffect, useState } from "preact/hooks";
import { type AskError, ask } from "../api";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import type { Hit, Search } from "../types";
import { go, param, withParams } from "../url";
import { useAsk } from "../use_ask";
import { commandLine } from "./copy";
import { useCursor } from "./list";
import { counted, When } from "./numbers";
import { openSql, RowsShown } from "./rows_shown";
import { Answered, Nothing, Refused } from "./states";
import { plain, visible } from "./text";

export function Hits({ text }: { text: string }) {
  const scope = { project: param("project"), since: param("since") };
  const query = { ...scope, until: param("until"), text };
  const asked = useAsk("GET /api/find", query);
  const [further, setFurther] = useState<Search[]>([]);
  const [error, setError] = useState<AskError | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another answer begins anew.
  useEffect(() => setFurther([]), [asked.answer]);
  const every = asked.answer ? [asked.answer, ...further] : [];
  const last = every.at(-1);
  const hits = every.flatMap((one) => one.hits);
  useStatus(commandLine(["find", text], scope), last ? counted(hits.length, "hit") : "");
  const sql = last?.sql;
  useKeys({ sql: openSql(sql) });
  const goOn = () => {
    ask("GET /api/find", { ...query, until: last?.next ?? "" })
      .then(({ answer }) => {
        setError(null);
        setFurther((now) => [...now, answer]);
      })
      .catch(setError);
  };
  return (
    <Answered asked={asked}>
      {() => (
        <>
          {hits.length > 0 && (
            <>
              <RowsShown name="hits" sql={sql} each={hits} />
              <Table hits={hits} />
            </>
          )}
          <Refused error={error} />
          <Reach last={last} hits={hits.length} goOn={goOn} />
        </>
      )}
    </Answered>
  );
}

interface ReachProps {
  last: Search | undefined;
  hits: number;
  goOn: () => void;
}

function Reach({ last, hits, goOn }: ReachProps) {
  if (!last) return null;
  if (last.finished && !hits) {
    return <Nothing title="Nothing has this text in it, and everything was looked through." />;
  }
  return (
    <p class="reach" role="status">
      {counted(hits, "hit")}
      {last.finished ? ", and everything was looked through." : ", looking back to "}
      {!last.finished && last.back_to && (
        <>
          <When time={last.back_to} />.{" "}
          <button type="button" onClick={goOn}>
            Go on
          </button>
        </>
      )}
    </p>
  );
}

function Table({ hits }: { hits: readonly Hit[] }) {
  const { at, move, body } = useCursor(hits.map((_, index) => String(index)));
  const chosen = hits[at];
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    ...(chosen ? { open: () => go(place(chosen)) } : {}),
  });
  return (
    <table class="list" role="grid" aria-label="Hits">
      <thead>
        <tr>
          <th>time</th>
          <th>where</th>
          <th>text</th>
        </tr>
      </thead>
      <tbody ref={body}>
        {hits.map((hit, index) => (
          <tr
            key={index}
            tabIndex={index === Math.max(at, 0) ? 0 : -1}
            aria-selected={index === at}
          >
            <td>
              <When time={hit.time} />
            </td>
            <td class="name">
              <a href={place(hit)} tabIndex={-1}>
                {plain(hit.kind)}
              </a>
            </td>
            <td class="hit">
              <bdi>
                {visible(hit.before)}
                <mark>{visible(hit.match)}</mark>
                {visible(hit.after)}
              </bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function place(hit: Hit): string {
  return withParams(["s", hit.project, hit.session], {
    at: hit.span || hit.turn,
    find: hit.turn ? "" : hit.match,
  });
}
