// The time, as long as something runs.
import { useEffect, useState } from "preact/hooks";

/** Milliseconds, new each second while it ticks. */
export function useNow(ticks: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!ticks) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [ticks]);
  return now;
}
