// Two texts as one, with what was taken out and what was put in.
import { useEffect, useState } from "preact/hooks";
import { Missing } from "../parts/states";
import { Verbatim, visible } from "../parts/text";
import { type Words, wordsBetween } from "./words";

const AROUND = 160;

export function WordsView({ before, after }: { before: string; after: string }) {
  const [words, setWords] = useState<Words | null | undefined>(undefined);
  useEffect(() => {
    let left = false;
    setWords(undefined);
    wordsBetween(before, after).then((found) => {
      if (!left) setWords(found);
    });
    return () => {
      left = true;
    };
  }, [before, after]);
  if (words === undefined) return <Missing reason="comparing …" />;
  if (words === null) {
    return (
      <>
        <Missing reason="too long to be compared in two seconds: both texts follow" />
        <Verbatim text={before} />
        <hr />
        <Verbatim text={after} />
      </>
    );
  }
  return (
    <>
      {words.by === "lines" && <Missing reason="too long to be compared by words: by lines" />}
      <div class="verbatim words" dir="auto">
        {words.pieces.map((piece, at) => {
          if (piece.added) return <ins key={at}>{visible(piece.value)}</ins>;
          if (piece.removed) return <del key={at}>{visible(piece.value)}</del>;
          return <span key={at}>{visible(shortened(piece.value, at, words.pieces.length))}</span>;
        })}
      </div>
    </>
  );
}

/** What is the same is shown around changes only. */
function shortened(text: string, at: number, pieces: number): string {
  if (text.length <= 3 * AROUND) return text;
  const begin = at > 0 ? text.slice(0, AROUND) : "";
  const end = at < pieces - 1 ? text.slice(-AROUND) : "";
  return `${begin} … ${end}`;
}
