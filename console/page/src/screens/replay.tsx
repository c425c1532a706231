// Replay: a session as it happened. Levels and folds filter rows that are there; the cursor, the
// level, the folds and whether it is followed stand in the address.
import { useMemo, useRef } from "preact/hooks";
import { sessionOfAddress } from "../addresses";
import { useStatus } from "../frame/status";
import type * as WaterfallFile from "../lazy/waterfall";
import { commandLine } from "../parts/copy";
import { Icon } from "../parts/icon";
import { counted } from "../parts/numbers";
import { Answered, Missing, Nothing } from "../parts/states";
import { plain } from "../parts/text";
import { useFind } from "../replay/find";
import { useOutline } from "../replay/follow";
import { Header } from "../replay/header";
import { Inspector } from "../replay/inspector";
import { SessionMap } from "../replay/map";
import { onlyOf, placeOfRow } from "../replay/place";
import { Rows, useMoving, useNewRows, WHOLE } from "../replay/row_list";
import { hasEnded, hashesOf, type Level, onlyRows, sessionOf, shownRows } from "../replay/rows";
import { useTextsOf } from "../replay/texts";
import { useReplayKeys } from "../replay/use_keys";
import type { Outline } from "../types";
import { address, param, replaceParams } from "../url";
import { useFile } from "../use_file";

export function Replay() {
  const query = sessionOfAddress(address.value.path, address.value.params);
  const { session } = query;
  const following = param("f") === "1";
  const { asked, outline } = useOutline(query, following);
  useStatus(
    commandLine(["replay", session || query.trace]),
    outline && !outline.continues ? counted(outline.calls.filter(hasEnded).length, "call") : "",
  );
  return (
    <Answered asked={asked} heading={plain(session || query.trace)}>
      {() =>
        outline?.steps.length ? <Conversation outline={outline} following={following} /> : <None />
      }
    </Answered>
  );
}

function None() {
  return (
    <Nothing title="Nothing landed for this session." heading>
      <p>
        Records in the spool land with the next look. Forgotten records, and those that retention
        dropped, are gone. <code>turnspan status</code> shows what waits,{" "}
        <code>turnspan sessions</code> lists the sessions.
      </p>
    </Nothing>
  );
}

function Conversation({ outline, following }: { outline: Outline; following: boolean }) {
  const session = useMemo(() => sessionOf(outline), [outline]);
  const level = Number(param("l") || "3") as Level;
  const foldedText = param("d");
  const folded = useMemo(() => new Set(foldedText.split(" ").filter(Boolean)), [foldedText]);
  const onlyText = param("only");
  const only = useMemo(() => onlyOf(onlyText), [onlyText]);
  const shown = useMemo(
    () => shownRows(onlyRows(session.rows, only), level, folded),
    [session, only, level, folded],
  );
  const at = shown.findIndex((row) => row.id === param("at"));
  const hashes = useMemo(() => hashesOf(session).slice(0, 2 * WHOLE), [session]);
  useTextsOf(outline.project, outline.session_id || outline.trace_id, hashes);
  const list = useRef<HTMLDivElement>(null);
  const clicked = useMoving(shown, at);
  const unseen = useNewRows(list, session, shown, following);
  const find = useFind(session, (id) => open(id));
  const open = (id: string) => replaceParams(placeOfRow(session, id));
  const toggle = (id: string) => {
    const next = new Set(folded);
    if (!next.delete(id)) next.add(id);
    replaceParams({ d: [...next].join(" ") });
  };
  useReplayKeys({ session, shown, at, level, folded, open, find: find.begin });
  const waterfall = param("w") === "1";
  const { file, failed } = useFile<typeof WaterfallFile>(waterfall ? "/static/waterfall.js" : null);
  const inspected = param("i") !== "off";
  const look = ["replay", waterfall ? "beside-time" : "", inspected ? "" : "wide"];
  return (
    <>
      <Header outline={outline} level={level} only={only} following={following}>
        {find.bar}
      </Header>
      <div class={look.filter(Boolean).join(" ")} data-level={level}>
        {failed && <Missing reason="The waterfall could not be loaded." />}
        {waterfall && file && (
          <file.Waterfall
            session={session}
            chosen={shown[at]}
            folded={folded}
            following={following}
            open={open}
            toggle={toggle}
          />
        )}
        <Rows
          list={list}
          session={session}
          shown={shown}
          at={at}
          folded={folded}
          clicked={clicked}
          toggle={toggle}
        />
        {!shown.length && <Nothing title="Nothing in this session is of that kind." />}
        {unseen.length > 0 && (
          <button type="button" class="unseen" onClick={() => open(unseen[0] ?? "")}>
            {counted(unseen.length, "new row")} <Icon name="arrow-down" />
          </button>
        )}
        <SessionMap rows={shown} at={at} matches={find.matches} open={open} />
        {inspected ? (
          <Inspector row={shown[at]} session={session} />
        ) : (
          <button type="button" class="inspect" onClick={() => replaceParams({ i: "" })}>
            Show details
          </button>
        )}
      </div>
    </>
  );
}
