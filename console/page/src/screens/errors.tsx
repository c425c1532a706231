// What fails, since when, and what was it fed?
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { useCursor } from "../parts/list";
import { count, counted, percent, UNKNOWN, When } from "../parts/numbers";
import { Panel } from "../parts/panel";
import { openSql, RowsShown } from "../parts/rows_shown";
import { Answered, Nothing } from "../parts/states";
import { Line, plain, Verbatim } from "../parts/text";
import type { ErrorPlace, ErrorShape, Fed, ToolFailures } from "../types";
import { go, param, setParams, withParams } from "../url";
import { useAsk } from "../use_ask";

export function Errors() {
  const query = { project: param("project"), since: param("since"), until: param("until") };
  const asked = useAsk("GET /api/errors", query);
  const shapes = asked.answer?.shapes ?? [];
  const tool = param("tool");
  useStatus(
    commandLine(["errors", ...(tool ? [tool] : [])], query),
    asked.answer ? counted(shapes.length, "shape") : "",
  );
  return (
    <>
      <h1>Errors</h1>
      {tool && <Tool tool={tool} query={query} />}
      <Answered asked={asked}>
        {(told) =>
          shapes.length ? (
            <>
              <RowsShown name="errors" sql={told.sql} each={shapes} />
              <Table shapes={shapes} sql={told.sql} />
            </>
          ) : (
            <Nothing title="✓ Nothing failed in this time.">
              <p>Errors of model calls, failed tools and turns that raised are listed here.</p>
            </Nothing>
          )
        }
      </Answered>
    </>
  );
}

function keyOf(one: ErrorShape): string {
  return [one.source, one.name, one.error, one.shape].join("|");
}

function placeOf(place: ErrorPlace): string {
  return withParams(["s", place.project, place.session], { at: place.span });
}

function Table({ shapes, sql }: { shapes: readonly ErrorShape[]; sql: string }) {
  const { at, move, body } = useCursor(shapes.map(keyOf));
  const current = shapes[at];
  const look = (one: ErrorShape) =>
    one.source === "tool" ? setParams({ tool: one.name }) : go(placeOf(one.place));
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    sql: openSql(sql),
    ...(current
      ? {
          open: () => look(current),
          copyId: () => copy(current.place.span, "the span's id"),
        }
      : {}),
  });
  return (
    <table class="list" role="grid" aria-label="Errors by shape">
      <thead>
        <tr>
          <th>what</th>
          <th>error</th>
          <th class="number">times</th>
          <th class="number">rate</th>
          <th class="number">turns</th>
          <th>first</th>
          <th>last</th>
          <th>message</th>
        </tr>
      </thead>
      <tbody ref={body}>
        {shapes.map((one, index) => (
          <tr
            key={keyOf(one)}
            tabIndex={index === Math.max(at, 0) ? 0 : -1}
            aria-selected={index === at}
          >
            <td class="name">
              <span class="faint">{one.source} </span>
              {one.source === "tool" ? (
                <button type="button" class="plain" tabIndex={-1} onClick={() => look(one)}>
                  {plain(one.name)}
                </button>
              ) : (
                plain(one.name)
              )}
            </td>
            <td class="name bad">{plain(one.error)}</td>
            <td class="number" data-label="times">
              {count(one.times)}
            </td>
            <td class="number" data-label="rate">
              {one.of ? percent(one.times / one.of) : UNKNOWN}
            </td>
            <td class="number" data-label="turns">
              {count(one.turns)}
            </td>
            <td>
              <When time={one.first} />
            </td>
            <td>
              <When time={one.last} />
            </td>
            <td class="said" title={plain(one.example)}>
              <a href={placeOf(one.place)} tabIndex={-1}>
                <Line text={one.shape || "(no message)"} />
              </a>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ToolProps {
  tool: string;
  query: { project: string; since: string; until: string };
}

function Tool({ tool, query }: ToolProps) {
  const asked = useAsk("GET /api/errors/tool", { ...query, tool });
  useKeys({ out: () => setParams({ tool: "" }) });
  return (
    <Panel title={`${plain(tool)}: what it was fed`} sql={asked.answer?.sql} wide>
      <Answered asked={asked} rows={4}>
        {(told) => <Closely told={told} />}
      </Answered>
    </Panel>
  );
}

function Closely({ told }: { told: ToolFailures }) {
  return (
    <>
      <h3 id="next-steps">What the model did next</h3>
      <ul class="looks" aria-labelledby="next-steps">
        {told.next_steps.map((one) => (
          <li key={one.did}>
            <a href={placeOf(one.place)}>{counted(one.times, "time")}</a> {one.did}
          </li>
        ))}
      </ul>
      <div class="panels">
        <Column title="✗ Arguments that fail" fed={told.fed.filter((one) => one.failed)} />
        <Column title="✓ Arguments that work" fed={told.fed.filter((one) => !one.failed)} />
      </div>
    </>
  );
}

function Column({ title, fed }: { title: string; fed: readonly Fed[] }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {fed.length === 0 && <p class="faint">None in this time.</p>}
      {fed.map((one) => (
        <div class="fed" key={one.place.span}>
          <a href={placeOf(one.place)}>
            <When time={one.time} />
          </a>
          {one.arguments ? (
            <Verbatim text={one.arguments} />
          ) : (
            <p class="missing">arguments not recorded</p>
          )}
          <p class={one.failed ? "bad" : "faint"}>
            <Line text={one.said} />
          </p>
        </div>
      ))}
    </section>
  );
}
