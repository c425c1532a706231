// What this browser keeps of the page. Where storage is switched off, a value is there as long as
// the tab is open, by whoever holds it.

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // held until the tab closes, then
  }
}
