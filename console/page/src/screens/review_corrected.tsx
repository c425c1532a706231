// What the answer should have been, beside what it was; and labels.
import { useState } from "preact/hooks";
import { Changed } from "../parts/marked";
import type { ReviewTurn } from "../types";
import type { Judgment } from "./review_verdicts";

interface Props {
  item: ReviewTurn;
  judge: (judgment: Judgment) => Promise<void>;
}

export function Corrected({ item, judge }: Props) {
  const answer = item.turn.told.findLast((one) => one.kind === "assistant" && one.text.trim());
  const held = item.judgments.findLast((one) => one.kind === CORRECTION && one.holds);
  // Without its end an answer is corrected into one that has none.
  const known = answer && answer.characters <= answer.text.length ? answer.text : "";
  const [text, setText] = useState(held?.comment ?? known);
  const [label, setLabel] = useState("");
  const differs = text.trim() !== "" && text !== known;
  return (
    <>
      <form
        class="labels"
        onSubmit={(event) => {
          event.preventDefault();
          if (label.trim()) void judge({ label: label.trim() }).then(() => setLabel(""));
        }}
      >
        <label>
          Label{" "}
          <input
            value={label}
            maxLength={60}
            onInput={(event) => setLabel(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Add</button>
      </form>
      <details class="note" open={held !== undefined}>
        <summary>Correct the answer</summary>
        <textarea
          rows={6}
          aria-label="What the answer should have been"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {known && differs && <Changed before={known} after={text} />}
        <button
          type="button"
          disabled={!differs || text === held?.comment}
          onClick={() => void judge({ correction: text })}
        >
          Save the correction
        </button>
      </details>
    </>
  );
}

const CORRECTION = "evaluation:correction";
