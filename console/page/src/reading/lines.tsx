// Lines that went and lines that came.
import { diffLines } from "diff";
import { useMemo } from "preact/hooks";
import { Missing } from "../parts/states";
import { visible } from "../parts/text";

const PATIENCE = 300;
const KINDS: Readonly<Record<string, string>> = {
  "+": "new",
  "-": "gone",
  "@": "place",
  "*": "place",
};

/** Two texts as one, line by line. */
export function LineDiff({ before, after }: { before: string; after: string }) {
  const lines = useMemo(() => {
    const changes = diffLines(before, after, { timeout: PATIENCE });
    return changes?.flatMap(({ value, added, removed }) => {
      const mark = added ? "+" : removed ? "-" : " ";
      return value
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `${mark}${line}`);
    });
  }, [before, after]);
  const whole = () => [
    ...before.split("\n").map((line) => `-${line}`),
    ...after.split("\n").map((line) => `+${line}`),
  ];
  return (
    <>
      {!lines && <Missing reason="too long to compare: removed lines first, then added lines" />}
      <Lines lines={lines ?? whole()} />
    </>
  );
}

/** A patch as it was written, its lines told apart. */
export function Patch({ text }: { text: string }) {
  return <Lines lines={text.replaceAll("\r\n", "\n").split("\n")} />;
}

function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <div class="verbatim patch">
      {lines.map((line, at) => {
        const kind = KINDS[line[0] ?? ""];
        const Tag = kind === "new" ? "ins" : kind === "gone" ? "del" : "span";
        return (
          <Tag key={at} class={kind === "place" ? "faint" : undefined}>
            {visible(line)}
            {"\n"}
          </Tag>
        );
      })}
    </div>
  );
}
