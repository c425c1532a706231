// The line at the bottom: what arrives, how many rows, how long it took, and the command that says
// the same as the screen.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pending, useKeys } from "../keys";
import { Command, copy } from "../parts/copy";
import { TERMS } from "../parts/glossary";
import { Icon } from "../parts/icon";
import { counted, seconds } from "../parts/numbers";
import { param, withParams } from "../url";
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

const OFTEN = 10;

/** What runs, what waits to land and when the last record was written, in the chosen project. */
function Arriving() {
  const { answer } = useAsk("GET /api/arrivals", { project: param("project") }, OFTEN);
  if (!answer) return null;
  const { last, running, waiting } = answer;
  return (
    <>
      <span title={last ? `${last.replace("T", " ").replace("Z", "")} UTC` : undefined}>
        <Icon name="radio" /> {last ? `last record ${ago(last)}` : "no record yet"}
      </span>
      {running > 0 && (
        <a href={withParams(["turns"], { f: "stop:running" })}>
          <Icon name="clock" /> {counted(running, "turn")} running
        </a>
      )}
      {waiting > 0 && (
        <span title={`Files of the spool, ${TERMS.spool}`}>
          <Icon name="inbox" /> {counted(waiting, "file")} to land
        </span>
      )}
    </>
  );
}

/** `just now`, `48 s ago`, `5 m 12 s ago`. */
function ago(time: string): string {
  const passed = (Date.now() - Date.parse(time)) / 1000;
  if (passed < OFTEN) return "just now";
  return `${passed < 60 ? `${Math.round(passed)} s` : seconds(passed)} ago`;
}

export function StatusLine() {
  const { command, rows } = status.value;
  useKeys({
    copyLink: () => copy(location.href, "the link"),
    copyCommand: command && (() => copy(command, "the command")),
  });
  return (
    <footer class="status">
      <Arriving />
      {rows && <span>{rows}</span>}
      {took.value !== null && (
        <span title="Time the store took for the last question">{took.value.toFixed(0)} ms</span>
      )}
      {command && (
        <span class="for-wide">
          <Command line={command} />
        </span>
      )}
      <span class="space" />
      {pending.value && <kbd>{pending.value} …</kbd>}
      <Live />
    </footer>
  );
}
