// The answers of a comparison, a column each.
import { useRef } from "preact/hooks";
import { Icon } from "../parts/icon";
import { Against, Changed } from "../parts/marked";
import { dollars, seconds, tokensUsed, UNKNOWN } from "../parts/numbers";
import { Missing, Scrolled } from "../parts/states";
import { Line, plain, Verbatim, visible } from "../parts/text";
import type { ComparedAnswer, ComparedAnswers, LineageNow } from "../types";
import { param, to, withParams } from "../url";

const WORDS: Readonly<Record<string, string>> = {
  asked: "what was asked",
  system_prompt: "the system prompt",
  text: "the answer",
  status: "how it ended",
};

/** What they were asked, and whether that is one prompt. */
export function Prompts({ shown }: { shown: ComparedAnswers }) {
  const [first, ...others] = shown.answers;
  if (!first) return null;
  const differs = (name: string) => shown.differing.includes(name);
  return (
    <section class="prompts" aria-label="What was asked">
      {!differs("asked") && first.asked && (
        <p class="asked">
          <Line text={first.asked} />
        </p>
      )}
      {shown.same_prompt ? (
        <p class="good">
          <Icon name="check" /> All answer the same prompt.
        </p>
      ) : (
        <p class={shown.why_no_pairs ? "bad" : "warn"}>
          <Icon name={shown.why_no_pairs ? "circle-x" : "triangle-alert"} />{" "}
          {shown.why_no_pairs
            ? `These make no preference pairs: ${shown.why_no_pairs}.`
            : "The prompts differ: only answers to the same prompt make pairs."}
        </p>
      )}
      {!shown.same_prompt &&
        others.map((other, at) => (
          <Different key={other.id} first={first} other={other} place={at + 2} />
        ))}
    </section>
  );
}

function Different(props: { first: ComparedAnswer; other: ComparedAnswer; place: number }) {
  const { first, other, place } = props;
  const names = (["system_prompt", "asked"] as const).filter((name) => first[name] !== other[name]);
  if (!names.length) return null;
  return (
    <details>
      <summary>
        Compare the prompts of {plain(first.id.slice(0, 12))} and {plain(other.id.slice(0, 12))}{" "}
        (number {place})
      </summary>
      {names.map((name) => (
        <div key={name}>
          <span class="faint">{WORDS[name]}</span>
          <Changed before={first[name]} after={other[name]} />
        </div>
      ))}
    </details>
  );
}

interface ColumnsProps {
  /** In the order of the columns. */
  answers: readonly ComparedAnswer[];
  lineOf: (answer: ComparedAnswer) => LineageNow | null;
  on: number;
  choose: (column: number) => void;
  hidden: boolean;
  locked: ReadonlySet<string>;
  scores: ReadonlyMap<string, number>;
}

export function Columns(props: ColumnsProps) {
  const { answers, lineOf, on, choose, hidden, locked, scores } = props;
  const marks = param("marks") !== "0";
  const frame = useRef<HTMLDivElement>(null);
  const scrolled = (event: Event) => {
    if (param("linked") === "0" || !(event.target instanceof HTMLElement)) return;
    const { scrollTop, scrollHeight, clientHeight } = event.target;
    const share = scrollTop / Math.max(1, scrollHeight - clientHeight);
    for (const other of frame.current?.querySelectorAll<HTMLElement>(".answer") ?? []) {
      const to = Math.round(share * (other.scrollHeight - other.clientHeight));
      // Setting it scrolls that one, too, which then sets this one: not if it is there already.
      if (other !== event.target && Math.abs(other.scrollTop - to) > 1) other.scrollTop = to;
    }
  };
  return (
    <div class="side" ref={frame} data-count={answers.length}>
      {answers.map((answer, column) => (
        <section
          key={answer.id}
          class="column"
          data-on={column === on}
          aria-label={`Answer ${column + 1}`}
        >
          <header>
            <button type="button" aria-pressed={column === on} onClick={() => choose(column)}>
              {column + 1}
            </button>
            {locked.has(answer.id) && (
              <span class="stays" title="Stays when other answers change">
                <Icon name="lock" /> locked
              </span>
            )}
            {hidden ? (
              <span class="faint">hidden until stored</span>
            ) : (
              <Facts answer={answer} score={scores.get(answer.id) ?? answer.score} />
            )}
            {!hidden && <Lineage line={lineOf(answer)} />}
            {hidden && scores.has(answer.id) && <span>{scores.get(answer.id)}/10</span>}
          </header>
          <Scrolled look="answer" label={`Text of answer ${column + 1}`} onScroll={scrolled}>
            <Text answer={answer} first={answers[0]} marks={marks && column > 0} />
          </Scrolled>
        </section>
      ))}
    </div>
  );
}

function Text(props: {
  answer: ComparedAnswer;
  first: ComparedAnswer | undefined;
  marks: boolean;
}) {
  const { answer, first, marks } = props;
  if (!answer.text) return <Missing reason={noAnswer(answer)} />;
  if (marks && first?.text) return <Against other={first.text} text={answer.text} />;
  return <Verbatim text={answer.text} />;
}

/** What holds of the answer's lineage; it would tell whose answer it is. */
function Lineage({ line }: { line: LineageNow | null }) {
  if (!line) return null;
  return (
    <span class="facts-line">
      lineage {visible(line.label)}{" "}
      {line.directive && <>· from now on: {visible(line.directive)} </>}
      {line.once.map((directive) => (
        <span key={directive}>· next time: {visible(directive)} </span>
      ))}
      {line.evolve && <>· may be evolved</>}
    </span>
  );
}

/** Where an answer is shown by itself. */
function place({ kind, id, project }: ComparedAnswer): string {
  if (kind === "turn") return withParams(["review"], { of: project, at: id });
  return kind === "call" ? to("call", project, id) : to("go", id);
}

function noAnswer({ status }: ComparedAnswer): string {
  const ended = status ? ` It ended as ${plain(status)}.` : "";
  return `No answer text is recorded.${ended}`;
}

function Facts({ answer, score }: { answer: ComparedAnswer; score: number | null }) {
  const tokens = tokensUsed(answer.input_tokens, answer.output_tokens);
  return (
    <span class="facts-line">
      <a href={place(answer)}>
        {plain(answer.kind)} {plain(answer.id.slice(0, 12))}
      </a>{" "}
      {visible(answer.models.join(", "))} {visible(answer.version.slice(0, 12))} · {tokens} ·{" "}
      {dollars(answer.cost_usd)} · {seconds(answer.duration)} · score{" "}
      {score === null ? UNKNOWN : score} · {visible(answer.status)}
      {answer.why_not && <span class="warn"> · {visible(answer.why_not)}</span>}
    </span>
  );
}
