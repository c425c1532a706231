// A system prompt or a tool catalogue, asked for when it is opened.
import { Answered, Fold } from "../parts/states";
import { Verbatim } from "../parts/text";
import { useAsk } from "../use_ask";
import { prettyJson } from "./texts";

interface Props {
  project: string;
  hash: string;
  label: string;
}

export function Definition({ project, hash, label }: Props) {
  return (
    <Fold look="definition" summary={label}>
      {() => <Text project={project} hash={hash} />}
    </Fold>
  );
}

function Text({ project, hash }: { project: string; hash: string }) {
  const asked = useAsk("GET /api/definition", { project, hash });
  return (
    <Answered asked={asked} rows={2}>
      {(answer) => (
        <Verbatim text={answer.text.startsWith("[") ? prettyJson(answer.text) : answer.text} />
      )}
    </Answered>
  );
}
