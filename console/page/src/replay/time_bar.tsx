// When a row began and how long it took, on one axis a turn.
import { seconds } from "../parts/numbers";
import type { Row, Session } from "./rows";

export function TimeBar({ row, session }: { row: Row; session: Session }) {
  const span = spanOf(row);
  if (!span) return <div class="time" />;
  const turn = session.turns.get(row.inside.at(-1) ?? "");
  const begun = Date.parse(turn?.start_time ?? span.start);
  const whole = Math.max(turn?.duration ?? 0, span.duration, 0.000_001);
  const offset = Math.max(0, Math.min(96, ((Date.parse(span.start) - begun) / 1000 / whole) * 100));
  const width = Math.max(2, Math.min(100 - offset, (span.duration / whole) * 100));
  return (
    <div
      class="time"
      title={`began ${seconds((Date.parse(span.start) - begun) / 1000)} into the turn`}
    >
      <span>{seconds(span.duration)}</span>
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect x={offset} y="0" width={width} height="4" />
      </svg>
    </div>
  );
}

function spanOf(row: Row): { start: string; duration: number } | null {
  if (row.kind === "call") return { start: row.call.start_time, duration: row.call.duration };
  const ran = row.kind === "tool" ? row.request.ran : undefined;
  return ran ? { start: ran.start_time, duration: ran.duration } : null;
}
