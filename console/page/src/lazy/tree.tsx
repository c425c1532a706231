// JSON as a tree to be folded: only what is open is in the document, and of a long list a piece at
// a time, so that 5 MB open as fast as a line.

import { useMemo, useState } from "preact/hooks";
import { count, counted, Fold, jsonOf, Line, plain, Verbatim } from "/static/app.js";

const PIECE = 100;
const LONG = 2_000;
/** Beyond so many levels nothing is moved further in: the lines would have no room left. */
const INDENTED = 16;

/** `value` is JSON as text, or read already. */
export function Tree({ value }: { value: string | object }) {
  const read = useMemo(() => jsonOf(value), [value]);
  if (!read) return <Verbatim text={String(value)} />;
  return (
    <div class="tree">
      <Entries value={read} depth={0} />
    </div>
  );
}

function Entries({ value, depth }: { value: object; depth: number }) {
  const [shown, setShown] = useState(PIECE);
  const entries = Object.entries(value);
  return (
    <>
      {entries.length === 0 && <span class="faint">{Array.isArray(value) ? "[]" : "{}"}</span>}
      {entries.slice(0, shown).map(([name, item]) => (
        <Entry key={name} name={name} value={item} depth={depth} alone={entries.length === 1} />
      ))}
      {entries.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + 10 * PIECE)}>
          {count(entries.length - shown)} more of {count(entries.length)}
        </button>
      )}
    </>
  );
}

interface EntryProps {
  name: string;
  value: unknown;
  depth: number;
  /** The only one where it stands: there is nothing to choose, so it is open. */
  alone: boolean;
}

function Entry({ name, value, depth, alone }: EntryProps) {
  const inner = jsonOf(value);
  if (!inner) {
    return (
      <div class="leaf">
        <Name name={name} /> <Leaf value={value} />
      </div>
    );
  }
  const size = Object.keys(inner).length;
  const kind = Array.isArray(inner) ? counted(size, "item") : counted(size, "field");
  return (
    <Fold
      open={alone || (depth === 0 && size <= 5)}
      look={depth >= INDENTED ? "deep" : undefined}
      summary={
        <>
          <Name name={name} />{" "}
          <span class="faint">
            {typeof value === "string" ? `text with JSON, ${kind}` : kind}
            {depth >= INDENTED && `, level ${depth + 1}`}
          </span>
        </>
      }
    >
      {() => <Entries value={inner} depth={depth + 1} />}
    </Fold>
  );
}

function Name({ name }: { name: string }) {
  return <span class="name">{plain(name)}:</span>;
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value !== "string") return <span class="mono">{String(value)}</span>;
  if (value.length > LONG) {
    return (
      <Fold
        look="deep"
        summary={
          <>
            <Line text={value.slice(0, 120)} />{" "}
            <span class="faint">… {counted(value.length, "character")}</span>
          </>
        }
      >
        {() => <Verbatim text={value} />}
      </Fold>
    );
  }
  return value.includes("\n") ? <Verbatim text={value} /> : <Line text={value} />;
}
