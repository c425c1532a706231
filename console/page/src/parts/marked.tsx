// Two texts, with the words that differ marked: as one text with what went and what came, or as the
// second one with what the first does not have.
import { type ChangeObject, diffLines, diffWordsWithSpace } from "diff";
import { useMemo } from "preact/hooks";
import { visible } from "./text";

type Piece = Pick<ChangeObject<string>, "value" | "added" | "removed">;

/** How long words are looked for; after that whole lines are compared. */
const PATIENCE = 150;

function piecesOf(before: string, after: string): readonly Piece[] {
  return (
    diffWordsWithSpace(before, after, { timeout: PATIENCE }) ??
    diffLines(before, after, { timeout: PATIENCE }) ?? [
      { value: before, added: false, removed: true },
      { value: after, added: true, removed: false },
    ]
  );
}

/** What went and what came, in one text. */
export function Changed({ before, after }: { before: string; after: string }) {
  const pieces = useMemo(() => piecesOf(before, after), [before, after]);
  return (
    <div class="verbatim">
      {pieces.map((piece, at) => (
        <Marked key={at} piece={piece} text={piece.value} />
      ))}
    </div>
  );
}

/** A piece of two texts: taken out, put in, or in both. */
export function Marked({ piece, text }: { piece: Piece; text: string }) {
  if (piece.added) return <ins>{visible(text)}</ins>;
  return piece.removed ? <del>{visible(text)}</del> : visible(text);
}

/** A text, with what another one does not have marked. */
export function Against({ other, text }: { other: string; text: string }) {
  const pieces = useMemo(() => piecesOf(other, text), [other, text]);
  return (
    <div class="verbatim" dir="auto">
      {pieces.map(({ value, added, removed }, at) =>
        added ? <mark key={at}>{visible(value)}</mark> : !removed && visible(value),
      )}
    </div>
  );
}
