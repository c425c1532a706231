// The filter as it is typed: terms with blanks between them. Terms and chips are the same thing.
const TERM = /(?:"[^"]*"|[^\s"])+/g;

export function terms(filter: string): string[] {
  return filter.match(TERM) ?? [];
}

/** A value as a filter has it: in quotes where it would be read as something else. */
export function value(text: string): string {
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

const VALUE = /"([^"]*)"|([^,"]+)/g;

/** The values of a name that are filtered by; one of them is enough. */
export function chosenValues(filter: string, name: string): string[] {
  const own = `${name}:`;
  return terms(filter)
    .filter((one) => one.startsWith(own))
    .flatMap((one) => [...one.slice(own.length).matchAll(VALUE)])
    .map(([, quoted, bare]) => quoted ?? bare ?? "");
}

/** With a value of a name that it had not, without one that it had. */
export function withValue(filter: string, name: string, wanted: string): string {
  const chosen = chosenValues(filter, name);
  const next = chosen.includes(wanted)
    ? chosen.filter((other) => other !== wanted)
    : [...chosen, wanted];
  const own = next.length ? [`${name}:${next.map(value).join(",")}`] : [];
  return [...terms(filter).filter((one) => !one.startsWith(`${name}:`)), ...own].join(" ");
}
