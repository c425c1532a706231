// A system prompt or a tool catalogue, asked for when it is opened.
import { Answered, Fold } from "../parts/states";
import { Line } from "../parts/text";
import { Written } from "../reading/written";
import { useAsk } from "../use_ask";

interface Props {
  project: string;
  hash: string;
  label: string;
  /** How it begins, where that is known. */
  head?: string | undefined;
}

export function Definition({ project, hash, label, head = "" }: Props) {
  return (
    <Fold
      look="definition"
      summary={
        <>
          {label}{" "}
          {head && (
            <span class="beginning">
              <Line text={head} />
            </span>
          )}
        </>
      }
    >
      {() => <Text project={project} hash={hash} />}
    </Fold>
  );
}

function Text({ project, hash }: { project: string; hash: string }) {
  const asked = useAsk("GET /api/definition", { project, hash });
  return (
    <Answered asked={asked} rows={2}>
      {(answer) => <Written text={answer.text} form="read" prose />}
    </Answered>
  );
}
