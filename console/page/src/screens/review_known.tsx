// What is known of a turn besides its conversation: what became of its texts, and all its judgments.
import { Changed } from "../parts/marked";
import { percent, When } from "../parts/numbers";
import { Line, plain } from "../parts/text";
import type { JudgmentRecord, ReviewTurn } from "../types";

/** What became of what the turn wrote. */
export function Known({ item }: { item: ReviewTurn }) {
  if (!item.checks.length && !item.revisions.length) return null;
  return (
    <section class="known" aria-label="What became of it">
      <h2>What became of it</h2>
      <ul>
        {item.checks.map((check) => (
          <li key={`${check.source} ${check.artifact_id}`}>
            <strong>{plain(check.decision)}</strong> <Line text={check.target} />
            {check.similarity !== null && `, ${percent(check.similarity)} alike`}{" "}
            <span class="faint">
              <Line text={check.reason} />
            </span>
          </li>
        ))}
      </ul>
      {item.revisions.map((one) => (
        <details key={one.correction_id} open>
          <summary>
            A later revision of <Line text={one.target} />
          </summary>
          <Changed before={one.written} after={one.corrected} />
        </details>
      ))}
    </section>
  );
}

/** What was said of the turn, the newest first. */
export function Judgments({ item }: { item: ReviewTurn }) {
  const judgments = [...item.judgments].reverse();
  if (!judgments.length) return <p class="faint">Not judged yet.</p>;
  return (
    <section aria-label="Earlier judgments">
      <h2>Earlier judgments</h2>
      <ul class="said-before">
        {judgments.map((one) => (
          <li key={`${one.kind} ${one.id}`} class={one.withdrawn_at ? "withdrawn" : undefined}>
            <strong>
              <Line text={one.author || "(no name)"} />
            </strong>{" "}
            {one.kind.replace("evaluation:", "").replace("_", " ")} <Line text={summaryOf(one)} />
            {one.comment && one.comment !== summaryOf(one) && <Line text={` ${one.comment}`} />}{" "}
            <span class="faint">
              <When time={one.created_at} /> {plain(one.source)}
              {one.withdrawn_at && ` · withdrawn by ${plain(one.withdrawn_by)}`}
              {!one.withdrawn_at && !one.holds && " · replaced"}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function summaryOf(judgment: JudgmentRecord): string {
  if (judgment.kind === "preference") return `${judgment.chosen_id} over ${judgment.rejected_id}`;
  if (judgment.kind === "training_flag") return String(judgment.training_flag);
  if (judgment.score !== null) return `${judgment.score} ${judgment.outcome}`.trim();
  return judgment.outcome || judgment.directive || judgment.comment;
}
