// The line at the bottom: which store, how many rows, how long it took, and the command that says
// the same as the screen.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pending, useKeys } from "../keys";
import { Command, copy } from "../parts/copy";
import { plain } from "../parts/text";
import { useAsk } from "../use_ask";
import { Live } from "./live";

interface ScreenStatus {
  readonly command: string;
  readonly rows: string;
}

const NOTHING: ScreenStatus = { command: "", rows: "" };
const status = signal(NOTHING);
const took = signal<number | null>(null);

/** What the last question cost in the store. */
export function note(milliseconds: number): void {
  took.value = milliseconds;
}

/** Say of the screen that is shown: the command that says the same, and how much there is. */
export function useStatus(command: string, rows = ""): void {
  useEffect(() => {
    status.value = { command, rows };
    return () => {
      status.value = NOTHING;
    };
  }, [command, rows]);
}

export function StatusLine() {
  const { answer } = useAsk("GET /api/store", {});
  const { command, rows } = status.value;
  useKeys({
    copyLink: () => copy(location.href, "the link"),
    copyCommand: command && (() => copy(command, "the command")),
  });
  return (
    <footer class="status">
      {answer && <span class="store">{plain(answer.store)}</span>}
      {rows && <span>{rows}</span>}
      {took.value !== null && (
        <span title="Time the store took for the last question">{took.value.toFixed(0)} ms</span>
      )}
      {command && <Command line={command} />}
      <span class="space" />
      {pending.value && <kbd>{pending.value} …</kbd>}
      <Live />
    </footer>
  );
}
