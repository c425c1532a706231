// What a tool was asked, as what it is: a command as a command, an edit as a diff, and the rest by
// name, each text with its own lines.
import { useMemo } from "preact/hooks";
import { Line, plain, Verbatim } from "../parts/text";
import { isPatch, searchBlocks, type Understood, understood } from "./edits";
import { type Form, jsonOf } from "./forms";
import { LineDiff, Patch } from "./lines";
import { Tree, Written } from "./written";

/** `value` is the arguments' JSON, as text or read already. */
export function Arguments({ value, form }: { value: unknown; form: Form }) {
  const known = useMemo(() => understood(value), [value]);
  const whole = jsonOf(value);
  if (form === "tree" && whole) return <Tree value={whole} />;
  if (known) return <Fields known={known} form={form} />;
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null, null, 2);
  if (form === "verbatim" && isPatch(text)) return <PatchText text={text} />;
  return <Written text={text} form={form} />;
}

/** Whether there is more to them than a line says. */
export function sayMore(value: unknown): boolean {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? "");
  if (text.length > 120 || text.includes("\n") || text.includes("\\n")) return true;
  const known = understood(value);
  return known !== null && (known.command !== "" || known.edits.length > 0);
}

function PatchText({ text }: { text: string }) {
  const blocks = searchBlocks(text, "");
  if (!blocks.length) return <Patch text={text} />;
  return (
    <>
      {blocks.map(({ before, after }, at) => (
        <LineDiff key={at} before={before} after={after} />
      ))}
    </>
  );
}

function Fields({ known, form }: { known: Understood; form: Form }) {
  const { command, edits, patches, rest } = known;
  return (
    <div class="given">
      {command && (
        <div class="shell">
          <span aria-hidden="true">$ </span>
          <Verbatim text={command} />
        </div>
      )}
      {edits.map(({ path, before, after }, at) => (
        <div key={at} class="edit">
          {path && path !== edits[at - 1]?.path && <Line text={path} />}
          <LineDiff before={before} after={after} />
        </div>
      ))}
      {patches.map((text, at) => (
        <Patch key={at} text={text} />
      ))}
      {rest.length > 0 && (
        <dl>
          {rest.map(([name, value]) => (
            <div key={name}>
              <dt>{plain(name)}</dt>
              <dd>
                {typeof value === "string" ? (
                  <Written text={value} form={form} />
                ) : (
                  <Verbatim text={JSON.stringify(value, null, 2)} />
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
