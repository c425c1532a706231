// What an id means: its screen, or a choice.
import { useEffect } from "preact/hooks";
import { useStatus } from "../frame/status";
import { Command, commandLine } from "../parts/copy";
import { Answered, Nothing } from "../parts/states";
import { label } from "../parts/text";
import { placeOf } from "../places";
import type { FoundRecord } from "../types";
import { address, go } from "../url";
import { useAsk } from "../use_ask";

export function Go() {
  const id = address.value.path[1] ?? "";
  const asked = useAsk("GET /api/lookup", { id });
  const records = asked.answer?.found ?? [];
  const [only] = records;
  const place = records.length === 1 && only ? placeOf(only) : null;
  useStatus(commandLine(["show", id]));
  useEffect(() => {
    // Replaced: back leads to where one came from, and not here again.
    if (place) go(place, { replace: true });
  }, [place]);
  return (
    <>
      <h1>{label(id)}</h1>
      <Answered asked={asked}>
        {() =>
          records.length ? (
            <ul>
              {records.map((record) => (
                <li key={`${record.kind} ${record.project} ${record.id}`}>
                  <Choice record={record} />
                </li>
              ))}
            </ul>
          ) : (
            <Nothing title="No record has this id.">
              <p>Six characters of an id are enough. A session's id can be any text.</p>
            </Nothing>
          )
        }
      </Answered>
    </>
  );
}

function Choice({ record }: { record: FoundRecord }) {
  const place = placeOf(record);
  const words = `${record.kind} ${label(record.id)}${record.project ? ` of ${label(record.project)}` : ""}`;
  if (place) return <a href={place}>{words}</a>;
  return (
    <>
      {words}: <Command line={commandLine(["show", record.id])} />
    </>
  );
}
