// A system prompt or a tool catalogue, asked for when it is opened.
import { useState } from "preact/hooks";
import { Answered } from "../parts/states";
import { Verbatim } from "../parts/text";
import { useAsk } from "../use_ask";

interface Props {
  project: string;
  hash: string;
  label: string;
  open?: boolean;
}

export function Definition({ project, hash, label, open = false }: Props) {
  const [shown, setShown] = useState(open);
  return (
    <details
      class="definition"
      open={open}
      onToggle={(event) => setShown(event.currentTarget.open)}
    >
      <summary>{label}</summary>
      {shown && <Text project={project} hash={hash} />}
    </details>
  );
}

function Text({ project, hash }: { project: string; hash: string }) {
  const asked = useAsk("GET /api/definition", { project, hash });
  return (
    <Answered asked={asked} rows={2}>
      {(answer) => <Verbatim text={pretty(answer.text)} />}
    </Answered>
  );
}

function pretty(text: string): string {
  if (!text.startsWith("[")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
