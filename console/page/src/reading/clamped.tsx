// A recorded text of which the first lines are shown: below them stands how much there is, and a
// button that shows all of it.
import { useState } from "preact/hooks";
import { counted } from "../parts/numbers";
import type { Form } from "./forms";
import { Written } from "./written";

interface Props {
  text: string;
  lines: number;
  form: Form;
  prose?: boolean;
}

/** Characters of a line, roughly: to measure a thousand texts would lay them all out. */
const WIDE = 90;

export function Clamped({ text, lines, form, prose = false }: Props) {
  const [all, setAll] = useState(false);
  const written = <Written text={text} form={form} prose={prose} />;
  // Half as much again is not worth a button.
  if (!isLonger(text, lines * 1.5)) return written;
  return (
    <div class="clamped">
      <div class={all ? undefined : "first"} style={{ "--lines": String(lines) }}>
        {written}
      </div>
      <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
        {all ? "Show less" : `Show all, ${counted(text.length, "character")}`}
      </button>
    </div>
  );
}

function isLonger(text: string, lines: number): boolean {
  return text.length > lines * WIDE || text.split("\n", lines + 2).length > lines + 1;
}
