// Copying, and saying that it was done.
import { announce } from "../frame/live";
import { plain } from "./text";

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce(`Copied ${what}`);
  } catch {
    announce(`The browser refused to copy ${what}`);
  }
}

/** Save a text as a file. */
export function download(text: string, name: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // Not at once: a browser may not have begun to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A command line that says the same, to be copied. */
export function Command({ line }: { line: string }) {
  return (
    <button
      type="button"
      class="command"
      title="Copy this command"
      onClick={() => void copy(line, "the command")}
    >
      $ {plain(line)}
    </button>
  );
}

/** One argument of a command as a shell reads it. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A command of words; an option without a value is left out. */
export function commandLine(
  words: readonly string[],
  options: Readonly<Record<string, string>> = {},
): string {
  const named = Object.entries(options).filter(([, value]) => value);
  return ["turnspan", ...words.map(quoted), ...named.map(([k, v]) => `--${k} ${quoted(v)}`)].join(
    " ",
  );
}
