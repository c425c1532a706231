// The whole session in one column: turns as ticks, problems and what was found in colour.
import type { Row } from "./rows";

interface Props {
  rows: readonly Row[];
  at: number;
  matches: ReadonlySet<string>;
  open: (id: string) => void;
}

export function SessionMap({ rows, at, matches, open }: Props) {
  const height = Math.max(rows.length, 1);
  const marks = rows.flatMap((row, index) => {
    const kind = matches.has(row.id)
      ? "found"
      : row.problem
        ? "bad"
        : row.kind === "turn"
          ? "tick"
          : "";
    return kind ? [{ kind, index, id: row.id }] : [];
  });
  const go = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const place = Math.floor(((event.clientY - box.top) / box.height) * rows.length);
    // The mark that is near, else the row that is there.
    const near = marks.find((mark) => Math.abs(mark.index - place) <= rows.length / 60);
    const row = rows[near?.index ?? place];
    if (row) open(row.id);
  };
  return (
    <svg
      class="map"
      viewBox={`0 0 10 ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onClick={go}
    >
      {marks.map((mark) => (
        <rect
          key={mark.id}
          class={mark.kind}
          x="0"
          y={mark.index}
          width="10"
          height={height / 120}
        />
      ))}
      {at >= 0 && <rect class="here" x="0" y={at} width="10" height={height / 80} />}
    </svg>
  );
}
