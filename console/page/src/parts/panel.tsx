// One question of a screen, with its answer and the SQL that gives it.
import type { ComponentChildren } from "preact";
import { stepFocus } from "../frame/focus";
import { hint, useKeys } from "../keys";
import { go, withParams } from "../url";

interface Props {
  title: string;
  /** The question behind it. */
  question?: string;
  sql?: string | undefined;
  wide?: boolean;
  /** In the place of the title. */
  head?: ComponentChildren;
  look?: string;
  children: ComponentChildren;
}

export function Panel({ title, question, sql, wide, head, look = "", children }: Props) {
  return (
    <section class={`panel ${wide ? "wide" : ""} ${look}`} aria-label={title} tabIndex={-1}>
      <header>
        {head ?? <h2 title={question}>{title}</h2>}
        {sql && <SqlLink title={title} sql={sql} />}
      </header>
      {children}
    </section>
  );
}

export function SqlLink({ title, sql }: { title: string; sql: string }) {
  return (
    <a class="sql" href={sqlScreen(sql)} title={hint("sql")} aria-label={`SQL of: ${title}`}>
      SQL
    </a>
  );
}

export function sqlScreen(sql: string): string {
  return withParams(["sql"], { q: sql });
}

/** The keys of a screen of panels: to the next, and to the SQL of the one with the focus. */
export function usePanelKeys(): void {
  useKeys({
    next: () => stepFocus(panels(), 1, chosen()),
    previous: () => stepFocus(panels(), -1, chosen()),
    nextProblem: () => stepFocus(problems(), 1),
    previousProblem: () => stepFocus(problems(), -1),
    sql: () => {
      const link = (chosen() ?? panels()[0])?.querySelector("a.sql");
      if (!(link instanceof HTMLAnchorElement)) return false;
      go(`${link.pathname}${link.search}`);
      return true;
    },
  });
}

function panels(): Element[] {
  return [...document.querySelectorAll("main .panel")];
}

function chosen(): Element | undefined {
  return panels().find((panel) => panel.contains(document.activeElement));
}

/** Where to look first: what is worth a look, then the ends that are no good ones. */
function problems(): Element[] {
  const places = [".looks a", ".bars a[data-problem]"];
  return places.flatMap((place) => [...document.querySelectorAll(`main ${place}`)]);
}
