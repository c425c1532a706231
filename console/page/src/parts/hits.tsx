// Where a text stands, newest first, and how far back it was looked for.
import { useKeys } from "../keys";
import type { Hit, Search } from "../types";
import { go, windowQuery, withParams } from "../url";
import { usePages } from "../use_pages";
import { commandLine } from "./copy";
import { useCursor } from "./list";
import { ListScreen } from "./list_screen";
import { counted, When } from "./numbers";
import { Nothing } from "./states";
import { type Column, Table } from "./table";
import { plain, visible } from "./text";

export function Hits({ text }: { text: string }) {
  const query = { ...windowQuery(), text };
  const { pages, more, ...list } = usePages("GET /api/find", query, "until");
  const last = pages.at(-1);
  const hits = pages.flatMap((page) => page.hits);
  const reach = last && <Reach last={last} hits={hits.length} more={more} />;
  const { project, since } = query;
  return (
    <ListScreen
      command={commandLine(["find", text], { project, since })}
      noun="hit"
      rows={hits}
      empty={reach}
      {...list}
    >
      <Grid hits={hits} />
      {reach}
    </ListScreen>
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

const COLUMNS: readonly Column<Hit>[] = [
  { head: "time", show: ({ time }) => <When time={time} /> },
  {
    head: "where",
    look: "name",
    show: (hit) => (
      <a href={place(hit)} tabIndex={-1}>
        {plain(hit.kind)}
      </a>
    ),
  },
  {
    head: "text",
    look: "hit",
    show: ({ before, match, after }) => (
      <bdi>
        {visible(before)}
        <mark>{visible(match)}</mark>
        {visible(after)}
      </bdi>
    ),
  },
];

const keyOf = (_: Hit, index: number) => String(index);

function Grid({ hits }: { hits: readonly Hit[] }) {
  const cursor = useCursor(hits, keyOf);
  const chosen = hits[cursor.at];
  useKeys({ open: chosen && (() => go(place(chosen))) });
  return <Table label="Hits" columns={COLUMNS} rows={hits} keyOf={keyOf} cursor={cursor} />;
}

function place(hit: Hit): string {
  return withParams(["s", hit.project, hit.session], {
    at: hit.span || hit.turn,
    find: hit.turn ? "" : hit.match,
  });
}
