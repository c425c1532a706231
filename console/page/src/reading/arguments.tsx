// What a tool was asked, as what it is: a command as a command, an edit as a diff, and the rest by
// name, each text with its own lines.
import { useMemo } from "preact/hooks";
import { Line, plain, Verbatim } from "../parts/text";
import { isPatch, searchBlocks, type Understood, understood } from "./edits";
import { type Form, jsonLines } from "./forms";
import { LineDiff, Patch } from "./lines";
import { Written } from "./written";

/** `value` is the arguments' JSON, as text or read already. */
export function Arguments({ value, form }: { value: unknown; form: Form }) {
  const known = useMemo(() => (form === "read" ? understood(value) : null), [value, form]);
  if (known) return <Fields known={known} form={form} />;
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null, null, 2);
  if (form === "read" && isPatch(text)) return <PatchText text={text} />;
  return <Written text={text} form={form} />;
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
                  <Verbatim text={jsonLines(value)} />
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
