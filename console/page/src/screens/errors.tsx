// What fails, since when, and what was it fed?
import { useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { Icon } from "../parts/icon";
import { useCursor } from "../parts/list";
import { ListScreen } from "../parts/list_screen";
import { count, counted, percent, When } from "../parts/numbers";
import { Panel } from "../parts/panel";
import { SortChoice } from "../parts/sorting";
import { Answered, Nothing, Recorded } from "../parts/states";
import { type Column, sortables, Table } from "../parts/table";
import { Line, plain } from "../parts/text";
import type { ErrorPlace, ErrorShape, ErrorShapes, Fed, ToolFailures } from "../types";
import { go, param, setParams, windowQuery, withParams } from "../url";
import { useAsk } from "../use_ask";
import { useRows } from "../use_rows";

export function Errors() {
  const query = windowQuery();
  const sort = param("sort");
  const { rows, fresh, ...list } = useRows("GET /api/errors", { ...query, sort }, shapesOf, keyOf);
  const tool = param("tool");
  return (
    <>
      <h1>Errors</h1>
      {tool && <Tool tool={tool} query={query} />}
      <ListScreen
        command={commandLine(
          ["errors", ...(tool ? [tool] : [])],
          tool ? query : { ...query, sort },
        )}
        noun="error"
        rows={rows}
        fresh={fresh}
        tools={<SortChoice columns={sortables(COLUMNS)} initial={INITIAL} />}
        empty={
          <Nothing title="Nothing failed in this time.">
            <p>This list has errors of model calls, failed tools and turns that raised.</p>
          </Nothing>
        }
        {...list}
      >
        <Grid shapes={rows} />
      </ListScreen>
    </>
  );
}

const INITIAL = "-times";
const shapesOf = ({ shapes }: ErrorShapes) => shapes;

function keyOf({ source, name, error, shape }: ErrorShape): string {
  return [source, name, error, shape].join("|");
}

function placeOf(place: ErrorPlace): string {
  return withParams(["s", place.project, place.session], { at: place.span });
}

function open({ source, name, place }: ErrorShape): void {
  if (source === "tool") setParams({ tool: name });
  else go(placeOf(place));
}

const COLUMNS: readonly Column<ErrorShape>[] = [
  {
    head: "what",
    sort: "name",
    look: "name",
    show: (row) => (
      <>
        <span class="faint">{row.source} </span>
        {row.source === "tool" ? (
          <button type="button" class="plain" tabIndex={-1} onClick={() => open(row)}>
            {plain(row.name)}
          </button>
        ) : (
          plain(row.name)
        )}
      </>
    ),
  },
  { head: "error", sort: "error", look: "name bad", show: ({ error }) => plain(error) },
  { head: "times", sort: "-times", look: "count", show: ({ times }) => count(times) },
  {
    head: "rate",
    sort: "-rate",
    look: "count",
    show: ({ times, of }) => (of ? percent(times / of) : ""),
  },
  { head: "turns", sort: "-turns", look: "count", show: ({ turns }) => count(turns) },
  { head: "first", sort: "-first", show: ({ first }) => <When time={first} /> },
  { head: "last", sort: "-last", show: ({ last }) => <When time={last} /> },
  {
    head: "message",
    sort: "message",
    look: "said",
    show: ({ place, shape, example }) => (
      <a href={placeOf(place)} tabIndex={-1} title={plain(example)}>
        <Line text={shape || "(no message)"} />
      </a>
    ),
  },
];

function Grid({ shapes }: { shapes: readonly ErrorShape[] }) {
  const cursor = useCursor(shapes, keyOf);
  const chosen = shapes[cursor.at];
  useKeys({
    open: chosen && (() => open(chosen)),
    copyId: chosen && (() => copy(chosen.place.span, "the span's id")),
  });
  return (
    <Table
      label="Errors by message"
      columns={COLUMNS}
      rows={shapes}
      keyOf={keyOf}
      cursor={cursor}
      sort={INITIAL}
      open={open}
    />
  );
}

function Tool({ tool, query }: { tool: string; query: ReturnType<typeof windowQuery> }) {
  const asked = useAsk("GET /api/errors/tool", { ...query, tool });
  useKeys({ out: () => setParams({ tool: "" }) });
  return (
    <Panel title={`Arguments of ${plain(tool)}`} sql={asked.answer?.sql} wide>
      <Answered asked={asked} rows={4}>
        {(answer) => <ToolDetails answer={answer} />}
      </Answered>
    </Panel>
  );
}

function ToolDetails({ answer }: { answer: ToolFailures }) {
  return (
    <>
      <h3 id="next-steps">What the model did next</h3>
      <ul class="looks" aria-labelledby="next-steps">
        {answer.next_steps.map((one) => (
          <li key={one.did}>
            <a href={placeOf(one.place)}>{counted(one.times, "time")}</a> {one.did}
          </li>
        ))}
      </ul>
      <div class="panels">
        <FedCalls failed fed={answer.fed} />
        <FedCalls failed={false} fed={answer.fed} />
      </div>
    </>
  );
}

function FedCalls({ failed, fed }: { failed: boolean; fed: readonly Fed[] }) {
  const title = failed ? "Arguments that fail" : "Arguments that work";
  const shown = fed.filter((one) => one.failed === failed);
  return (
    <section aria-label={title}>
      <h3>
        <span class={failed ? "bad" : "good"}>
          <Icon name={failed ? "circle-x" : "circle-check"} />
        </span>{" "}
        {title}
      </h3>
      {shown.length === 0 && <p class="faint">None in this time.</p>}
      {shown.map((one) => (
        <div class="fed" key={one.place.span}>
          <a href={placeOf(one.place)}>
            <When time={one.time} />
          </a>
          <Recorded text={one.arguments} missing="arguments not recorded" />
          <p class={one.failed ? "bad" : "faint"}>
            <Line text={one.said} />
          </p>
        </div>
      ))}
    </section>
  );
}
