// How a turn ended: always a glyph beside the colour.
import { plain } from "./text";

interface Kind {
  readonly glyph: string;
  readonly tone: "good" | "warn" | "bad" | "busy";
}

const KINDS: Readonly<Record<string, Kind>> = {
  completed: { glyph: "✓", tone: "good" },
  running: { glyph: "◷", tone: "busy" },
  error: { glyph: "✗", tone: "bad" },
  tool_failure: { glyph: "✗", tone: "bad" },
  interrupted: { glyph: "✗", tone: "bad" },
  content_filter: { glyph: "⊘", tone: "bad" },
  refusal: { glyph: "⊘", tone: "bad" },
  empty_no_tools: { glyph: "⊘", tone: "warn" },
  loop_detected: { glyph: "↻", tone: "bad" },
};
const OTHER: Kind = { glyph: "■", tone: "warn" };

export function kindOfEnd(end: string): Kind {
  return KINDS[end] ?? OTHER;
}

export function End({ end, title }: { end: string; title?: string }) {
  const { glyph, tone } = kindOfEnd(end);
  const words = plain(end);
  return (
    <span class={`end ${tone}`} title={title ?? words}>
      <span aria-hidden="true">{glyph}</span> {words}
    </span>
  );
}
