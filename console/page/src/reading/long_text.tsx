// A text of which the server has sent the beginning: the rest comes when it is asked for, a piece at
// a time, so that a reader need not wait for a message of 5 MB.
import { useEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api";
import { bytes, count } from "../parts/numbers";
import { Missing } from "../parts/states";
import type { TextRange } from "../types";
import type { Form } from "./forms";
import { kindOf, Written } from "./written";

interface Props {
  text: string;
  /** Bytes that all of it takes. */
  size: number;
  /** Whether what is known begins the text; else it only says what is in it. */
  begins: boolean;
  read: (start: number, signal: AbortSignal) => Promise<TextRange>;
  form: Form;
  prose?: boolean;
}

interface Pieces {
  readonly texts: readonly string[];
  /** Characters, as Python counts them: a pair of surrogates is one. */
  readonly next: number;
  /** `null` until the server has said it. */
  readonly total: number | null;
  readonly original: number;
}

export function LongText({ text, size, begins, read, form, prose = false }: Props) {
  const [known, setKnown] = useState<Pieces>(() =>
    begins
      ? { texts: [text], next: characters(text), total: null, original: 0 }
      : { texts: [], next: 0, total: null, original: 0 },
  );
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  const load = async (all: boolean) => {
    setBusy(true);
    setProblem("");
    const { signal } = leaving.current;
    try {
      let now = known;
      do {
        const range = await read(now.next, signal);
        now = {
          texts: [...now.texts, range.text],
          next: now.next + characters(range.text),
          total: range.total,
          original: range.original_bytes,
        };
        setKnown(now);
        if (!range.text) break;
      } while (all && now.next < (now.total ?? 0));
    } catch (error) {
      if (signal.aborted) return;
      setProblem(asRefusal(error).message);
    }
    setBusy(false);
  };
  const whole = known.total !== null && known.next >= known.total;
  const shown = known.texts.length ? known.texts : [text];
  const kind = form === "raw" ? "raw" : kindOf(text, prose);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys too.
    <div class="pieces" tabIndex={0}>
      {kind === "markdown" || (kind === "json" && whole) ? (
        <Written text={shown.join("")} form={form} prose={prose} />
      ) : (
        shown.map((piece, at) => <Written key={at} text={piece} form="raw" />)
      )}
      {whole && known.original > 0 && (
        <Missing reason={`… cut when recorded, from ${bytes(known.original)}`} />
      )}
      {!whole && (
        <p class="load">
          <Missing
            reason={
              known.total === null
                ? `… ${bytes(size)} in all`
                : `… ${count(known.next)} of ${count(known.total)} characters`
            }
          />
          <button type="button" disabled={busy} onClick={() => void load(false)}>
            {busy ? "Loading …" : "Load more"}
          </button>
          <button type="button" disabled={busy} onClick={() => void load(true)}>
            Load all
          </button>
          {kind === "json" && <Missing reason="Load all to see the JSON formatted." />}
          {problem && (
            <span class="bad" role="alert">
              {problem}
            </span>
          )}
        </p>
      )}
    </div>
  );
}

function characters(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0xd800 && code < 0xdc00) pairs += 1;
  }
  return text.length - pairs;
}
