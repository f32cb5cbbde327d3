// What the page knows: the network as it was sent, what is believed now and was before.

import {
  ask, type Beliefs, type Details, type Gains, type Held, type How, type Intervals, type Job, type Now,
  type Opened, type Paths, type Picture, type Said, type Strength, tab,
} from "./protocol";

class Studio {
  opened = $state.raw<Opened | null>(null);
  now = $state.raw<Now | null>(null);
  beliefs = $state.raw<Beliefs>({});
  before = $state.raw<Beliefs | null>(null);
  first = $state.raw<Beliefs>({});
  said = $state.raw<Said | null>(null);
  intervals = $state.raw<Intervals | null>(null);
  details = $state.raw<Details | null>(null);
  strength = $state.raw<Strength | null>(null);
  gained = $state.raw<Gains | null>(null); // of the chosen edge, by the rows
  paths = $state.raw<Paths | null>(null);
  costs = $state<Record<string, number>>({}); // of asking
  names = $state(false); // boxes hold names alone
  script = $state("");
  selected = $state<string | null>(null);
  focused = $state(false);
  section = $state("Ask");
  mode = $state<How>("is");
  error = $state("");
  announced = $state("");
  job = $state.raw<Job | null>(null);
  lost = $state(false);
  theme = $state(remembered("credo-theme") ?? "auto");

  boxes = $derived(new Map((this.opened?.picture.nodes ?? []).map((n) => [n.name, n])));
  near = $derived.by(() => {
    const box = this.focused && this.selected ? this.boxes.get(this.selected) : undefined;
    return box ? new Set([box.name, ...box.blanket]) : null;
  });

  /** The edges of the paths that are shown. */
  lit = $derived(new Set((this.paths?.paths ?? []).flatMap((path) => path.slice(1).flatMap((n, i) => [`${path[i]}\n${n}`, `${n}\n${path[i]}`]))));

  #seq = 0;
  #last: Promise<void> = Promise.resolve();
  #soon: ReturnType<typeof setTimeout> | undefined;
  #later: ReturnType<typeof setTimeout> | undefined;

  async open() {
    try {
      const opened = await ask<Opened>("open", { seq: 0 });
      if (!this.opened) this.section = begins(opened);
      this.#seq = opened.version;
      this.opened = opened;
      this.job = opened.job ?? null;
      this.intervals = null;
      if (this.selected !== null && !this.boxes.has(this.selected)) this.select(null);
      this.now = opened;
      this.beliefs = this.first = opened.beliefs ?? {};
      this.#follow();
    } catch (error) {
      this.error = (error as Error).message;
    }
  }

  /** Changes go one after the other, so that none overtakes another. */
  change(name: string, args: object = {}): Promise<void> {
    this.#last = this.#last.then(async () => {
      try {
        let now = await ask<Now>(name, { seq: ++this.#seq, ...args });
        if (now.stale) { // another tab, or a job, changed something first
          this.#seq = now.version;
          now = await ask<Now>(name, { seq: ++this.#seq, ...args });
        }
        this.error = "";
        this.paths = null;
        if (now.net !== this.now?.net) return await this.open();
        this.before = this.beliefs;
        if (now.beliefs) this.beliefs = now.beliefs;
        this.now = now;
        this.intervals = null;
        this.#announce();
        this.#follow();
      } catch (error) {
        this.error = (error as Error).message;
      }
    });
    return this.#last;
  }

  /** What changes by itself: jobs, another tab of this session, a server that is back. */
  listen() {
    const source = new EventSource(`/events/${tab()}`);
    source.onmessage = (event) => {
      const told = JSON.parse(event.data) as { version: number; job: Job | null };
      this.job = told.job;
      if (told.version > this.#seq) this.open();
    };
    source.onopen = () => {
      if (this.lost) this.open();
      this.lost = false;
    };
    source.onerror = () => {
      this.lost = true;
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.listen(), 2000);
    };
  }

  /** A request that changes nothing by itself: it begins or ends a job. */
  async tell(name: string, args: object = {}) {
    try {
      await ask(name, { seq: 0, ...args });
      this.error = "";
    } catch (error) {
      this.error = (error as Error).message;
    }
  }

  paint(theme: string) {
    this.theme = theme;
    try {
      localStorage.setItem("credo-theme", theme);
    } catch {} // it stays for this page
  }

  click(name: string, state: number, how: How = this.mode) {
    return this.change("click", { name, state, how });
  }

  /** Soft evidence after which a state has this share: the report whose likelihoods bring it there. */
  soften(name: string, state: number, share: number) {
    const p = this.beliefs[name]?.p;
    const held = this.now?.known[name];
    if (!p?.[state] || (held && held.how !== "soft")) return;
    const rest = 1 - p[state];
    const weights = p.map((now, i) => {
      const wanted = i === state ? share : rest > 0 ? (now * (1 - share)) / rest : 0;
      const before = held?.weights[i] ?? 1;
      return now > 0 ? (before * wanted) / now : before;
    });
    return this.change("soft", { name, weights });
  }

  row(index: number) {
    return this.change("row", { index, open: this.selected });
  }

  select(name: string | null) {
    if (name === this.selected) return;
    this.selected = name;
    this.strength = null;
    this.gained = null;
    this.paths = null;
    this.details = null;
    if (name === null) this.focused = false;
    this.#follow();
    if (name !== null) {
      this.#later_of(ask<Details>("node", { seq: 0, name }), (d) => {
        if (this.selected === name) this.details = d;
      });
    }
  }

  edge(from: string, to: string) {
    this.gained = null;
    this.#later_of(ask<Strength>("edge", { seq: 0, from, to }), (s) => (this.strength = s));
    if (this.opened?.rows) this.#later_of(ask<Gains>("gains", { seq: 0, from, to }), (g) => (this.gained = g));
  }

  /** The paths between the selected variable and another, lit in the picture. */
  path(to: string) {
    this.#later_of(ask<Paths>("paths", { seq: 0, from: this.selected, to }), (p) => (this.paths = p));
  }

  /** Boxes with names alone, or with their bars. */
  async fold() {
    try {
      const { picture } = await ask<{ picture: Picture }>("picture", { seq: 0, names: !this.names });
      this.names = !this.names;
      this.opened = { ...this.opened!, picture };
    } catch (error) {
      this.error = (error as Error).message;
    }
  }

  cost(name: string, cost: number) {
    this.costs[name] = cost;
    this.#follow();
  }

  #later_of<T>(answer: Promise<T>, use: (value: T) => void) {
    answer.then(use, (error: Error) => (this.error = error.message));
  }

  /** The panel a moment after the bars, the intervals after a rest; what is stale is dropped. */
  #follow() {
    clearTimeout(this.#soon);
    const fresh = (version: number) => version === this.now?.version;
    this.#soon = setTimeout(() => {
      const selected = this.selected;
      this.#later_of(ask<Said>("panel", { seq: 0, selected, costs: $state.snapshot(this.costs) }), (s) => {
        if (fresh(s.version) && selected === this.selected) this.said = s;
      });
      this.#later_of(ask<{ version: number; script: string }>("script", { seq: 0 }), (s) => {
        if (fresh(s.version)) this.script = s.script;
      });
    }, 40);
    this.look();
  }

  #seen: string[] = [];

  /** Which variables are drawn with their bars: intervals are asked for those, and the selected one. */
  look(names: string[] = this.#seen) {
    this.#seen = names;
    const known = this.intervals?.intervals, wanted = this.#wanted();
    if (this.intervals ? known && wanted.some((n) => !(n in known)) : wanted.length) this.#draw(200, 150);
  }

  #wanted(): string[] {
    return this.selected === null ? this.#seen : [...new Set([...this.#seen, this.selected])];
  }

  /** Intervals after a rest; finer ones when nothing else is asked, if the first came soon. */
  #draw(draws: number, rest: number) {
    clearTimeout(this.#later);
    this.#later = setTimeout(() => {
      if (this.now?.impossible) return;
      const begun = performance.now();
      this.#later_of(ask<Intervals>("intervals", { seq: 0, draws, names: this.#wanted() }), (found) => {
        if (found.version !== this.now?.version) return;
        this.intervals = { ...found, intervals: found.intervals && { ...this.intervals?.intervals, ...found.intervals } };
        if (draws === 200 && found.intervals && performance.now() - begun < 1000) this.#draw(1000, 2000);
      });
    }, rest);
  }

  #announce() {
    const belief = this.selected ? this.beliefs[this.selected] : undefined;
    const states = this.selected ? this.boxes.get(this.selected)?.states : undefined;
    if (this.now?.impossible) this.announced = this.now.impossible;
    else if (belief?.p && states)
      this.announced = `${this.selected}: ${states.map((s, i) => `${s} ${percent(belief.p![i] ?? 0)}`).join(", ")}`;
    else this.announced = "Updated.";
  }
}

/** The section for what there is: nothing, a table, a network. */
function begins(opened: Opened): string {
  if (opened.picture.nodes.length === 0) return "Build";
  return opened.rows > 0 && opened.picture.edges.length === 0 ? "Learn" : "Ask";
}

/** What this browser remembers of the person; some pages may not remember. */
function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export const studio = new Studio();

export function percent(p: number): string {
  const shown = 100 * p;
  if (p > 0 && shown < 0.1) return "<0.1 %";
  if (p < 1 && shown > 99.9) return ">99.9 %";
  return `${shown.toFixed(1)} %`;
}

export function bits(x: number): string {
  return `${x.toFixed(x < 0.1 ? 3 : 2)} bits`;
}

export function short(x: number): string {
  return Number.isFinite(x) ? String(Number(x.toPrecision(4))) : "";
}

export const WORDS: Record<Held, string> = { is: "observed", in: "one of", not: "not", soft: "reported", do: "set" };

/** What a click or a key press means: its modifier, else the mode that is chosen. */
export function meant(event: MouseEvent | KeyboardEvent): How {
  if (event.shiftKey) return "do";
  if (event.altKey) return "not";
  if (event.ctrlKey || event.metaKey) return "in";
  return studio.mode;
}

/** Whether a key goes into a field. */
export function typing(event: KeyboardEvent): boolean {
  return event.target instanceof Element && event.target.matches("input:not([type=radio], [type=checkbox]), select, textarea");
}
