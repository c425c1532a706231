// A reviewer's way through a queue. What was judged is the server's to know: here is only what is
// shown, what comes next, and where one has been.
import { computed, signal } from "@preact/signals";
import { ask, asRefusal } from "../api";
import { announce } from "../frame/live";
import { note } from "../frame/status";
import { counted } from "../parts/numbers";
import type { ReviewLeft, ReviewQuery, ReviewTurn, TurnId } from "../types";
import type { Judgment } from "./review_verdicts";

/** What was loaded ahead is asked for again when it is shown, unless it is as fresh as this. */
const FRESH = 1_000;
/** A longer pause between two judgments is one, and says nothing about how fast they are given. */
const PAUSE = 120_000;

export type When = "now" | "here" | "next";

interface Loaded {
  readonly item: Promise<ReviewTurn>;
  readonly at: number;
}

export function keyOf(place: TurnId): string {
  return JSON.stringify([place.project, place.turn]);
}

export class Way {
  readonly left = signal<ReviewLeft | null>(null);
  readonly item = signal<ReviewTurn | null>(null);
  readonly place = signal<TurnId | null>(null);
  readonly error = signal("");
  readonly busy = signal(false);
  /** Nothing is left but what was skipped. */
  readonly ended = signal(false);
  readonly skipped = signal(0);
  /** Seconds a judgment, of those given here. */
  readonly pace = signal<number | null>(null);
  readonly #change = signal(0);
  readonly stillLeft = computed(() =>
    Math.max(0, (this.left.value?.left ?? 0) + this.#change.value),
  );

  #ahead: TurnId[] = [];
  readonly #trail: TurnId[] = [];
  #at = -1;
  readonly #passed = new Set<string>();
  readonly #loaded = new Map<string, Loaded>();
  readonly #done = new Map<string, { before: boolean; now: boolean }>();
  #retry = { what: "", id: "" };
  #last = 0;
  readonly #waiting: (() => Promise<void>)[] = [];
  readonly #times: number[] = [];

  constructor(
    readonly query: ReviewQuery,
    /** The address follows what is shown. */
    private readonly shown: (place: TurnId | null) => void,
  ) {}

  /** Begin, at a turn where the address has one. */
  async start(place: TurnId | null): Promise<void> {
    await this.#doing(async () => {
      await this.#look();
      if (place) await this.#show(place);
      else await this.#forward();
    });
  }

  /** Go on; what was not judged comes again when everything else is done. */
  next(): Promise<void> {
    return this.#doing(async () => {
      const place = this.place.value;
      if (place && !this.#done.get(keyOf(place))?.now) this.#pass(place);
      await this.#forward();
    });
  }

  /** Back to where one was; then to what was judged before that. */
  back(): Promise<void> {
    return this.#doing(async () => {
      if (this.#at <= 0) {
        const { answer } = await ask("GET /api/review/earlier", this.#reviewer());
        const been = new Set(this.#trail.map(keyOf));
        const before = answer.turns.find((one) => !been.has(keyOf(one)));
        if (!before) {
          announce("This is the first one.");
          return;
        }
        this.#trail.unshift(before);
        this.#at = 0;
      } else this.#at -= 1;
      const place = this.#trail[this.#at];
      if (place) await this.#show(place);
    });
  }

  /** A turn that the address names. */
  goTo(place: TurnId): Promise<void> {
    return this.#doing(() => this.#show(place));
  }

  /** Show again what was skipped. */
  again(): Promise<void> {
    return this.#doing(async () => {
      this.#passed.clear();
      this.skipped.value = 0;
      this.#trail.length = 0;
      this.#at = -1;
      await this.#forward();
    });
  }

  /** Judge what is shown: `now`, or not at all while something else is done; `here`, as soon as
   * that is done; or `next`, what is shown then. Resolves when it is on disk; what was said is asked
   * with the same id until it is, so that it is there once. */
  judge(judgment: Judgment, goOn: boolean, when: When = "now"): Promise<void> {
    const here = when === "here" ? this.place.value : null;
    return this.#doing(async () => {
      const place = here ?? this.place.value;
      if (!place || !this.item.value) return;
      const what = JSON.stringify([place, judgment]);
      if (this.#retry.what !== what) this.#retry = { what, id: crypto.randomUUID() };
      const { by } = this.#reviewer();
      const { took } = await ask("POST /api/review/judge", {
        ...place,
        by,
        id: this.#retry.id,
        ...judgment,
      });
      note(took);
      this.#retry = { what: "", id: "" };
      this.#loaded.delete(keyOf(place));
      this.#count();
      if (settles(judgment)) this.#settled(place, true);
      announce(`${words(judgment)}; ${counted(this.stillLeft.value, "turn")} left`);
      if (goOn) await this.#forward();
      else if (place === this.place.value) await this.#show(place);
    }, when !== "now");
  }

  /** Take the last judgment back, and go to what it was of. */
  undo(): Promise<void> {
    return this.#doing(async () => {
      const { answer } = await ask("POST /api/review/undo", this.#reviewer());
      if (!answer.kind) {
        announce("There is nothing to undo.");
        return;
      }
      const place = { project: answer.project, turn: answer.turn };
      this.#loaded.delete(keyOf(place));
      // It was judged when the list was made, if it was not shown since.
      if (answer.kind !== "comment" && !this.#done.has(keyOf(place))) this.#settled(place, true);
      await this.#show(place);
      announce(`Taken back: ${answer.kind.replace("_", " ")}`);
    });
  }

  /** One thing at a time. What comes meanwhile waits if it is `queued`, else it is dropped: a second
   * click is of a turn that is not shown yet. After a failure nothing that waits is done. */
  async #doing(what: () => Promise<void>, queued = false): Promise<void> {
    if (this.busy.value) {
      if (queued) await new Promise<void>((done) => this.#waiting.push(() => what().then(done)));
      return;
    }
    this.busy.value = true;
    try {
      await what();
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await next();
      this.error.value = "";
    } catch (error) {
      const left = this.#waiting.splice(0).length;
      const lost = left ? ` ${counted(left, "key")} pressed since then judged nothing.` : "";
      this.error.value = asRefusal(error).message + lost;
    } finally {
      this.busy.value = false;
    }
  }

  #reviewer(): { by: string; project: string } {
    return { by: this.left.value?.by ?? "", project: this.query.project ?? "" };
  }

  async #look(): Promise<void> {
    const { answer, took } = await ask("GET /api/review/left", this.query);
    note(took);
    this.left.value = answer;
    this.#done.clear();
    this.#change.value = 0;
    this.#ahead = answer.next;
  }

  async #forward(): Promise<void> {
    if (this.#at + 1 < this.#trail.length) {
      this.#at += 1;
      const place = this.#trail[this.#at];
      if (place) return this.#show(place);
    }
    for (let looked = false; ; looked = true) {
      const place = this.#following();
      if (place) {
        const item = await this.#load(place);
        // Somebody else may have judged it since the list was made.
        if (this.#isDoneOf(item)) {
          this.#passed.add(keyOf(place));
          continue;
        }
        return this.#show(place);
      }
      if (looked) break;
      await this.#look();
    }
    this.item.value = null;
    this.place.value = null;
    this.ended.value = true;
    this.#at = this.#trail.length;
    this.shown(null);
  }

  /** What comes after everything that was shown: neither judged nor skipped, nor one of these. */
  #following(...except: readonly TurnId[]): TurnId | undefined {
    const not = new Set(except.map(keyOf));
    return this.#ahead.find((one) => {
      const key = keyOf(one);
      return !not.has(key) && !this.#passed.has(key) && !this.#done.get(key)?.now;
    });
  }

  async #show(place: TurnId): Promise<void> {
    const key = keyOf(place);
    const at = this.#trail.findIndex((one) => keyOf(one) === key);
    if (at >= 0) this.#at = at;
    else {
      this.#trail.push(place);
      this.#at = this.#trail.length - 1;
    }
    const loaded = this.#loaded.get(key);
    const item = await this.#load(place);
    this.item.value = item;
    this.place.value = place;
    this.ended.value = false;
    this.shown(place);
    this.#settled(place, this.#isDoneOf(item));
    if (loaded && performance.now() - loaded.at > FRESH) void this.#refresh(place);
    // What comes next is there when it is asked for.
    const following = this.#following(place);
    const then = following && this.#following(place, following);
    for (const next of [following, then]) if (next) void this.#load(next).catch(() => undefined);
  }

  async #refresh(place: TurnId): Promise<void> {
    this.#loaded.delete(keyOf(place));
    const item = await this.#load(place).catch(() => null);
    if (item && this.place.value && keyOf(this.place.value) === keyOf(place))
      this.item.value = item;
  }

  #load(place: TurnId): Promise<ReviewTurn> {
    const key = keyOf(place);
    const known = this.#loaded.get(key);
    if (known) return known.item;
    const item = ask("GET /api/review/turn", place).then(({ answer }) => answer);
    this.#loaded.set(key, { item, at: performance.now() });
    item.catch(() => this.#loaded.delete(key));
    return item;
  }

  #isDoneOf(item: ReviewTurn): boolean {
    const left = this.left.value;
    return left?.each ? item.done_by.includes(left.by) : item.done_by.length > 0;
  }

  #settled(place: TurnId, now: boolean): void {
    const key = keyOf(place);
    const { before } = this.#done.get(key) ?? { before: now };
    this.#done.set(key, { before, now });
    const each = [...this.#done.values()];
    this.#change.value = each.reduce((sum, one) => sum + Number(one.before) - Number(one.now), 0);
  }

  #pass(place: TurnId): void {
    if (!this.#passed.has(keyOf(place))) this.skipped.value += 1;
    this.#passed.add(keyOf(place));
  }

  #count(): void {
    const now = performance.now();
    if (this.#last && now - this.#last < PAUSE) this.#times.push(now - this.#last);
    this.#last = now;
    if (this.#times.length) {
      this.pace.value = this.#times.reduce((sum, one) => sum + one, 0) / this.#times.length / 1_000;
    }
  }
}

function settles(judgment: Judgment): boolean {
  const assessed = judgment.outcome ?? judgment.score ?? (judgment.flag ? judgment.flag : null);
  return assessed !== null && assessed !== undefined;
}

function words(judgment: Judgment): string {
  if (judgment.outcome) return judgment.outcome;
  if (judgment.score !== undefined && judgment.score !== null) return `score ${judgment.score}`;
  if (judgment.note) return "noted";
  if (judgment.label) return `label ${judgment.label}`;
  if (judgment.correction) return "correction stored";
  return judgment.flag === 1
    ? "flagged as good"
    : judgment.flag === -1
      ? "flagged as excluded"
      : "flag cleared";
}
