// One question of a screen, with its answer and the SQL that gives it.
import type { ComponentChildren } from "preact";
import { hint, useKeys } from "../keys";
import { go, withParams } from "../url";

interface Props {
  title: string;
  /** The question behind it. */
  question?: string;
  sql?: string | undefined;
  wide?: boolean;
  children: ComponentChildren;
}

export function Panel({ title, question, sql, wide, children }: Props) {
  return (
    <section class={`panel ${wide ? "wide" : ""}`} aria-label={title} tabIndex={-1}>
      <header>
        <h2 title={question}>{title}</h2>
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
    next: () => step(1),
    previous: () => step(-1),
    nextProblem: () => focusOn(problems(), 1),
    previousProblem: () => focusOn(problems(), -1),
    sql: () => {
      const link = (chosen() ?? panels()[0])?.querySelector("a.sql");
      if (!(link instanceof HTMLAnchorElement)) return false;
      go(`${link.pathname}${link.search}`);
      return true;
    },
  });
}

/** Where to look first: what is worth a look, then the ends that are no good ones. */
function problems(): HTMLElement[] {
  const found = [".looks a", ".bars a[data-problem]"];
  return found.flatMap((one) => [...document.querySelectorAll<HTMLElement>(`main ${one}`)]);
}

function focusOn(every: readonly HTMLElement[], by: 1 | -1): boolean {
  const now = every.indexOf(document.activeElement as HTMLElement);
  const next = every[now < 0 ? (by > 0 ? 0 : every.length - 1) : now + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return next !== undefined;
}

function panels(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("main .panel")];
}

function chosen(): HTMLElement | undefined {
  return panels().find((panel) => panel.contains(document.activeElement));
}

function step(by: number): boolean {
  const every = panels();
  const now = chosen();
  const next = every[now ? every.indexOf(now) + by : 0];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return next !== undefined;
}
