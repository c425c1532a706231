// How a turn ended: an icon and plain words beside the colour, the stored value in the tooltip.
import { Icon, type IconName } from "./icon";
import { plain } from "./text";

type Tone = "good" | "warn" | "bad" | "busy";

interface Kind {
  /** Its words; of an application's own reason the reason. */
  readonly words: string;
  readonly icon: IconName;
  readonly tone: Tone;
  /** In a chart of all ends: a custom property. */
  readonly color: string;
}

function kind(words: string, icon: IconName, tone: Tone, color: string): Kind {
  return { words, icon, tone, color };
}

/** By stop reason without its detail, or status (docs/reference/stop-reasons.md). */
const KINDS: Readonly<Record<string, Kind>> = {
  completed: kind("completed", "circle-check", "good", "--good"),
  running: kind("running", "clock", "busy", "--running"),
  error: kind("failed with an error", "circle-x", "bad", "--c6"),
  tool_failure: kind("tool failed", "wrench", "bad", "--c8"),
  interrupted: kind("process died", "circle-x", "bad", "--n9"),
  content_filter: kind("content filter", "ban", "bad", "--c4"),
  refusal: kind("refused", "ban", "bad", "--n8"),
  loop_detected: kind("loop", "repeat", "bad", "--c3"),
  max_tokens: kind("cut by the token limit", "circle-stop", "warn", "--c2"),
  budget_exceeded: kind("limit reached", "circle-stop", "warn", "--n9"),
  round_cap: kind("round limit", "circle-stop", "warn", "--c1"),
  user_aborted: kind("cancelled", "hand", "warn", "--c7"),
  empty_no_tools: kind("no answer", "circle-stop", "warn", "--c5"),
  silent_rounds: kind("silent for many rounds", "circle-stop", "warn", "--n6"),
};

/** Characters of an application's own reason. */
const LONGEST = 40;

export function kindOfEnd(end: string): Kind {
  const known = Object.hasOwn(KINDS, end) ? KINDS[end] : undefined;
  const own = end.length > LONGEST ? `${end.slice(0, LONGEST)}…` : end;
  return known ?? kind(plain(own), "circle-stop", "warn", "--n7");
}

export function End({ end, title }: { end: string; title?: string }) {
  const { words, icon, tone } = kindOfEnd(end);
  return (
    <span class={`end ${tone}`} title={title || plain(end)}>
      <Icon name={icon} /> {words}
    </span>
  );
}
