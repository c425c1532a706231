// Markdown as elements: the parser gives tokens, and every text of them is shown as text. Nothing is
// fetched, and no link leads anywhere before its whole address was seen.

import { Lexer, type MarkedToken, type Token, Tokenizer, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count, Icon, Missing, plain, Verbatim, visible } from "/static/app.js";

/** Characters that are read at once: a text that is made to keep a parser busy has no more. */
const PIECE = 64_000;
// What takes the parser's time by its square: words without end, and lists and quotes in each other.
const ENDLESS = /\S{4000}/;
const NESTED = /^[ \t]{100,}([-*+]|\d+[.)])|^([ \t]*>){40}|^(\s*([-*+]|\d+[.)])){40}/m;

interface Rendered {
  readonly elements: ComponentChildren;
  /** Characters that follow. */
  readonly left: number;
  /** Why it is not read as Markdown; empty where it is. */
  readonly refused: string;
}

export function Markdown({ text }: { text: string }) {
  const [pieces, setPieces] = useState(1);
  const rendered = useMemo(() => read(text, pieces), [text, pieces]);
  if (rendered.refused) {
    return (
      <>
        <Missing reason={`as written: ${rendered.refused}`} />
        <Verbatim text={text} />
      </>
    );
  }
  return (
    <div class="markdown" dir="auto">
      {rendered.elements}
      {rendered.left > 0 && (
        <button type="button" class="more" onClick={() => setPieces(pieces + 1)}>
          {count(rendered.left)} more characters
        </button>
      )}
    </div>
  );
}

// HTML is text like any other: tags in a prompt mark its sections, and what is in them is Markdown.
class WithoutHtml extends Tokenizer {
  override html(): undefined {}
  override tag(): undefined {}
}
const tokenizer = new WithoutHtml();

/** The first so many pieces of a text. */
export function read(text: string, pieces: number): Rendered {
  const begin = text.slice(0, endOf(text, pieces * PIECE));
  const refused = (why: string): Rendered => ({ elements: null, left: 0, refused: why });
  if (ENDLESS.test(begin)) return refused("a word has more than 4,000 characters");
  if (NESTED.test(begin)) return refused("its lists or quotes are nested too deeply");
  try {
    const elements = new Lexer({ gfm: true, breaks: true, tokenizer }).lex(begin).map(block);
    return { elements, left: text.length - begin.length, refused: "" };
  } catch (error) {
    return refused(`the parser gave up (${error instanceof Error ? error.message : error})`);
  }
}

/** After a paragraph, where there is one. */
function endOf(text: string, most: number): number {
  if (text.length <= most) return text.length;
  const at = text.lastIndexOf("\n\n", most);
  return at > most - PIECE / 2 ? at : most;
}

function block(parsed: Token): ComponentChildren {
  const token = parsed as MarkedToken;
  switch (token.type) {
    case "space":
      return null;
    case "heading":
      // No heading of the page: its outline is not the message's.
      return <p class="title">{token.tokens.map(inline)}</p>;
    case "paragraph":
      return <p>{token.tokens.map(inline)}</p>;
    case "text":
      return token.tokens ? token.tokens.map(inline) : visible(token.text);
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for who has only keys.
        <pre tabIndex={0}>
          {token.lang && <span class="language">{visible(token.lang)}</span>}
          {visible(token.text)}
        </pre>
      );
    case "blockquote":
      return <blockquote>{token.tokens.map(block)}</blockquote>;
    case "list": {
      const items = token.items.map((item) => <li>{item.tokens.map(block)}</li>);
      return token.ordered ? <ol start={Number(token.start || 1)}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "checkbox":
      return <Box checked={token.checked} />;
    default:
      return <p class="mono">{visible(token.raw)}</p>; // definitions of links and the rest
  }
}

/** A task of a list. */
function Box({ checked }: { checked: boolean }) {
  return (
    <>
      <Icon name={checked ? "square-check" : "square"} />
      <span class="hidden">{checked ? "done: " : "to do: "}</span>{" "}
    </>
  );
}

const LETTERS = /[\p{L}\p{N}]/gu;

function letters(text: string): number {
  return text.match(LETTERS)?.length ?? 0;
}

function Table({ token }: { token: Tokens.Table }) {
  const cells = [...token.header, ...token.rows.flat()];
  // A row of more cells than the header loses them.
  if (letters(token.raw) > cells.reduce((sum, cell) => sum + letters(cell.text), 0))
    return <Verbatim text={token.raw} />;
  return (
    <table>
      <thead>
        <tr>
          {token.header.map((cell) => (
            <th scope="col">{cell.tokens.map(inline)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {token.rows.map((row) => (
          <tr>
            {row.map((cell) => (
              <td>{cell.tokens.map(inline)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inline(parsed: Token): ComponentChildren {
  const token = parsed as MarkedToken;
  switch (token.type) {
    case "strong":
      return <strong>{token.tokens.map(inline)}</strong>;
    case "em":
      return <em>{token.tokens.map(inline)}</em>;
    case "del":
      return <s>{token.tokens.map(inline)}</s>;
    case "codespan":
      return <code>{visible(token.text)}</code>;
    case "br":
      return <br />;
    case "checkbox":
      return <Box checked={token.checked} />;
    case "link":
      return (
        <Link address={token.href} title={token.title ?? ""}>
          {token.tokens.map(inline)}
        </Link>
      );
    case "image": {
      const words = [token.text, token.title, token.href].filter(Boolean).join(", ");
      return <Missing reason={`[image: ${plain(words)}]`} />;
    }
    case "text":
      return token.tokens ? token.tokens.map(inline) : visible(token.text);
    case "escape":
      return visible(token.text);
    default:
      return visible(token.raw);
  }
}

interface LinkProps {
  address: string;
  title: string;
  children: ComponentChildren;
}

/** A link shows its whole address before it can be followed. */
function Link({ address, title, children }: LinkProps) {
  const [open, setOpen] = useState(false);
  const to = destination(address);
  return (
    <span class="told-link">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        {children}
      </button>{" "}
      <span class="faint">
        ({visible([to?.host || address.slice(0, 60), title].filter(Boolean).join(", "))})
      </span>
      {open && (
        <span class="address">
          {" "}
          {visible(to?.href ?? address)}{" "}
          {to ? (
            <a href={to.href} target="_blank" rel="noreferrer noopener">
              open in a new tab
            </a>
          ) : (
            <Missing reason="this address cannot be opened from here" />
          )}
        </span>
      )}
    </span>
  );
}

/** The address as a browser would go to it, so that a name in look-alike letters shows what it is. */
function destination(address: string): URL | null {
  try {
    const url = new URL(address);
    return ["http:", "https:"].includes(url.protocol) ? url : null;
  } catch {
    return null;
  }
}
