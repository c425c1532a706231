// The filter as it is typed: terms with blanks between them. Terms and chips are the same thing.
const TERM = /(?:"[^"]*"|[^\s"])+/g;

export function terms(filter: string): string[] {
  return filter.match(TERM) ?? [];
}

/** A value as a filter has it: in quotes where it would be read as something else. */
function value(text: string): string {
  return /[\s,"]/.test(text) || text === "" ? `"${text.replaceAll('"', "")}"` : text;
}

export function term(name: string, text: string): string {
  return `${name}:${value(text)}`;
}

export function has(filter: string, wanted: string): boolean {
  return terms(filter).includes(wanted);
}

/** With a term that it had not, without one that it had. */
export function toggled(filter: string, wanted: string): string {
  const known = terms(filter);
  return (
    known.includes(wanted) ? known.filter((other) => other !== wanted) : [...known, wanted]
  ).join(" ");
}
