// The versions of an experiment, each below its lineage and right of the version it was made from.
import { fixed } from "../parts/numbers";
import { Scrolled } from "../parts/states";
import { plain } from "../parts/text";
import type { ExperimentRecord } from "../types";
import { here } from "../url";
import { type Row, rowsOf } from "./lineage_rows";

const WIDTH = 124;
const HEIGHT = 56;
const RADIUS = 7;
/** Characters of a name that have room beside the next one. */
const LONGEST = 15;

type Version = Extract<Row, { kind: "version" }>;

interface Node {
  readonly row: Version;
  readonly parent: Node | undefined;
  readonly x: number;
  readonly y: number;
}

interface Props {
  shown: ExperimentRecord;
  chosen: string;
  /** Called before the row of a version is chosen. */
  reveal: () => void;
}

export function Versions({ shown, chosen, reveal }: Props) {
  const { nodes, lanes } = placed(shown);
  if (nodes.length < 2) return null;
  const scores = nodes.flatMap(({ row }) => row.record.score ?? []);
  const best = Math.max(...scores);
  const width = Math.max(...nodes.map(({ x }) => x)) + WIDTH;
  return (
    <Scrolled label="Versions, and what each was made from" look="versions">
      {/* biome-ignore lint/a11y/useSemanticElements: there is no other element for a group in a drawing. */}
      <svg width={width} height={lanes * HEIGHT} role="group" aria-label="Versions">
        {nodes.map(
          (node) => node.parent && <Edge key={node.row.id} to={node} from={node.parent} />,
        )}
        {nodes.map((node) => (
          <Dot
            key={node.row.id}
            node={node}
            best={scores.length > 1 && node.row.record.score === best}
            chosen={node.row.id === chosen}
            reveal={reveal}
          />
        ))}
      </svg>
    </Scrolled>
  );
}

function Edge({ from, to }: { from: Node; to: Node }) {
  const change = (to.row.record.score ?? 0) - (from.row.record.score ?? 0);
  const known = to.row.record.score !== null && from.row.record.score !== null && change !== 0;
  const [begin, end] = [from.x + RADIUS, to.x - RADIUS];
  const middle = (begin + end) / 2;
  return (
    <path
      class={known ? (change > 0 ? "good" : "bad") : undefined}
      d={`M${begin},${from.y}C${middle},${from.y} ${middle},${to.y} ${end},${to.y}`}
    />
  );
}

interface DotProps {
  node: Node;
  best: boolean;
  chosen: boolean;
  reveal: () => void;
}

function Dot({ node: { row, parent, x, y }, best, chosen, reveal }: DotProps) {
  const { of, record } = row;
  const name = nameOf(row);
  const score = fixed(record.score, 1);
  const words = [
    `version ${name} of ${plain(of.label || of.lineage_id.slice(0, 8))}`,
    `score ${score}${best ? ", the highest" : ""}`,
    parent && `made from ${nameOf(parent.row)}`,
  ];
  return (
    <a
      href={here({ at: row.id, l: "3" })}
      class={best ? "best" : undefined}
      aria-current={chosen}
      tabIndex={-1}
      onClick={reveal}
    >
      <title>{words.filter(Boolean).join(", ")}</title>
      <circle cx={x} cy={y} r={RADIUS} />
      <text x={x} y={y + 22}>
        {name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name}
      </text>
      <text x={x} y={y - 13}>
        {score}
      </text>
    </a>
  );
}

function nameOf({ own, record }: Version): string {
  return plain(record.name || own.slice(0, 8));
}

/** Versions of one lineage that are as far from their first one are below each other. */
function placed(shown: ExperimentRecord): { nodes: Node[]; lanes: number } {
  const rows = rowsOf(shown).filter((row) => row.kind === "version");
  const nodes = new Map<string, Node>();
  const used = new Map<string, number>();
  let lanes = 0;
  for (const lineage of shown.lineages) {
    const own = rows.filter(({ of }) => of === lineage);
    const first = lanes;
    for (const row of own) {
      const source = row.record.made_from;
      // What was made from a version of another lineage stands right of that one.
      const parent =
        nodes.get(`${lineage.lineage_id} ${source}`) ??
        [...nodes.values()].find((node) => node.row.own === source);
      const x = parent ? parent.x + WIDTH : WIDTH / 2;
      const place = `${lineage.lineage_id} ${x}`;
      const lane = first + (used.get(place) ?? 0);
      used.set(place, lane - first + 1);
      lanes = Math.max(lanes, lane + 1);
      nodes.set(row.id, { row, parent, x, y: lane * HEIGHT + HEIGHT / 2 });
    }
  }
  return { nodes: [...nodes.values()], lanes };
}
