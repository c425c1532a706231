// Where did a week go, what failed in it, and what came again?
import { useStatus } from "../frame/status";
import { commandLine } from "../parts/copy";
import { Rows } from "../parts/diagnosed";
import { Icon } from "../parts/icon";
import { Panel, usePanelKeys } from "../parts/panel";
import { Answered } from "../parts/states";
import type { WeekAnswer } from "../types";
import { param, withParams } from "../url";
import { useAsk } from "../use_ask";

export function Week() {
  const query = { project: param("project"), week: param("week") };
  const asked = useAsk("GET /api/week", query);
  useStatus(commandLine(["week"], query), asked.answer?.week ?? "");
  usePanelKeys();
  return (
    <>
      <h1>Week {asked.answer?.week}</h1>
      <Answered asked={asked} rows={12}>
        {(answer) => <Parts answer={answer} project={query.project} />}
      </Answered>
    </>
  );
}

/** Whether a column says anything. */
function isTold(rows: WeekAnswer["parts"][number]["rows"]) {
  return (_: string, at: number) => rows.some((row) => row[at] !== null && row[at] !== "");
}

/** Every second piece of a text stood in backticks. */
function asCode(text: string, at: number) {
  return at % 2 ? <code key={at}>{text}</code> : text;
}

function Parts({ answer, project }: { answer: WeekAnswer; project: string }) {
  const of = (week: string) => withParams(["week"], { project, week });
  const last = new Date(Date.parse(answer.until) - 1).toISOString();
  return (
    <>
      <p class="switches">
        <a href={of(answer.before)}>
          <Icon name="arrow-left" /> {answer.before}
        </a>{" "}
        {answer.since.slice(0, 10)} to {last.slice(0, 10)} (UTC){" "}
        <a href={of(answer.after)}>
          {answer.after} <Icon name="arrow-right" />
        </a>
      </p>
      <div class="panels">
        {answer.parts.map((part) => (
          <Panel key={part.name} title={part.title} question={part.question} sql={part.sql} wide>
            {part.rows.length ? (
              <>
                <Rows answer={part} columns={part.columns.filter(isTold(part.rows))} />
                <p class="faint">{part.remedy.split("`").map(asCode)}</p>
              </>
            ) : (
              <p class="faint">
                <Icon name="check" /> None in this week.
              </p>
            )}
          </Panel>
        ))}
      </div>
    </>
  );
}
