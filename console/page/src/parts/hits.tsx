// Where a text stands, by session, and how far back it was looked for.
import { value } from "../filter_text";
import { useKeys } from "../keys";
import { replayOf } from "../places";
import type { FoundSession, Hit, Search } from "../types";
import { go, param, windowQuery, withParams } from "../url";
import { usePages } from "../use_pages";
import { commandLine } from "./copy";
import { End } from "./end";
import { Facets } from "./facets";
import { useCursor } from "./list";
import { ListScreen } from "./list_screen";
import { counted, When } from "./numbers";
import { Nothing } from "./states";
import { type Column, Table } from "./table";
import { Line, label, plain, visible } from "./text";

export function Hits({ text }: { text: string }) {
  const filter = param("f");
  const query = { ...windowQuery(), filter, text };
  const { pages, more, ...list } = usePages("GET /api/find", query, "until");
  const last = pages.at(-1);
  const hits = grouped(pages);
  const reach = last && <Reach last={last} hits={hits.length} more={more} />;
  const { project, since } = query;
  const sessions = [...new Set(hits.map(({ session }) => session))];
  const found = `session:${sessions.map(value).join(",")}`;
  return (
    <div class="with-facets">
      {sessions.length > 0 ? (
        <Facets query={{ ...windowQuery(), filter: `${filter} ${found}`.trim() }} />
      ) : (
        <div />
      )}
      <div>
        <ListScreen
          command={commandLine(["find", text], { project, since, filter })}
          noun="hit"
          rows={hits}
          empty={reach}
          {...list}
        >
          <Grid hits={hits} />
          {reach}
        </ListScreen>
      </div>
    </div>
  );
}

interface ReachProps {
  last: Search;
  hits: number;
  more: (() => void) | null;
}

function Reach({ last, hits, more }: ReachProps) {
  if (last.finished && !hits) {
    return <Nothing title="No record contains this text. The search is complete." />;
  }
  return (
    <p class="reach" role="status">
      {counted(hits, "hit")}
      {last.finished ? ", the search is complete." : ", searched back to "}
      {!last.finished && last.back_to && (
        <>
          <When time={last.back_to} />.{" "}
          <button type="button" disabled={!more} onClick={() => more?.()}>
            Search further
          </button>
        </>
      )}
    </p>
  );
}

/** The hits with their sessions, the hits of one together: the session of the newest hit first. */
function grouped(pages: readonly Search[]): readonly Found[] {
  const sessions = new Map<string, FoundSession>();
  const groups = new Map<string, Found[]>();
  for (const page of pages) {
    for (const one of page.sessions) sessions.set(`${one.project}\n${one.scope}`, one);
    for (const hit of page.hits) {
      const key = `${hit.project}\n${hit.session}`;
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push({ ...hit, of: sessions.get(key), first: group.length === 0, together: group });
    }
  }
  return [...groups.values()].flat();
}

type Found = Hit & {
  readonly of: FoundSession | undefined;
  readonly first: boolean;
  readonly together: readonly Hit[];
};

const COLUMNS: readonly Column<Found>[] = [
  {
    head: "by session",
    look: "hit",
    show: (hit) => (
      <>
        {hit.first && <GroupHead hit={hit} />}
        <a href={place(hit)} tabIndex={-1}>
          {plain(hit.kind)}
        </a>{" "}
        <When time={hit.time} />
        <bdi class="text">
          {visible(hit.before)}
          <mark>{visible(hit.match)}</mark>
          {visible(hit.after)}
        </bdi>
      </>
    ),
  },
];

function GroupHead({ hit }: { hit: Found }) {
  const { of, together } = hit;
  return (
    <div class="group">
      <strong>
        <Line text={of?.user_message || hit.session} />
      </strong>
      <span class="below">
        {of && <End end={of.end} />}
        {of && <span>{plain(of.agent)}</span>}
        {of && <When time={of.time} />}
        <a class="name" href={replayOf(whole(hit))} tabIndex={-1}>
          {label(hit.session)}
        </a>
        <span>{counted(together.length, "hit")}</span>
      </span>
    </div>
  );
}

const keyOf = (_: Hit, index: number) => String(index);

function Grid({ hits }: { hits: readonly Found[] }) {
  const cursor = useCursor(hits, keyOf);
  const chosen = hits[cursor.at];
  useKeys({ open: chosen && (() => go(place(chosen))) });
  return (
    <Table
      label="Hits"
      columns={COLUMNS}
      rows={hits}
      keyOf={keyOf}
      cursor={cursor}
      open={(hit) => go(place(hit))}
    />
  );
}

function whole({ project, session, of }: Found) {
  const { trace = "" } = of ?? {};
  return { project, session: trace ? "" : session, trace_id: trace };
}

/** Where the hit is in its session, with the text marked. */
function place(hit: Found): string {
  const { project, session, trace_id } = whole(hit);
  const { kind, turn, span, message, match } = hit;
  // What a turn says of itself stands at its end, but for what it was asked.
  const own = kind === "user message" || !turn || span !== turn ? span || turn : `${turn}.end`;
  const hidden = message || (["user message", "reply"].includes(kind) ? "message" : "");
  return withParams(["s", project, session], { at: own, hit: hidden, trace: trace_id, q: match });
}
