// The questions of the page, answered in the page: what src/credo/studio/ does with Python, for a
// network that came along as tables. Intervals need draws of the parameters, so they stay there.

import type { Belief, Details, Held, How, Known, Now, Opened, Picture, Said, Strength, Weight } from "../protocol";
import { conditioned, type Gaussians, type Group } from "./gaussians";
import { bin, binned, forward, holds, logSlope, mixture, within, type Bins, type Seen } from "./scales";
import { JointTree, type Found } from "./tree";

type Variable = { name: string; states: string[]; python: string[]; bins?: Bins };
export type Network = {
  title: string; variables: Variable[]; tables: { scope: number[]; p: number[] }[];
  groups: Group[]; order: number[]; picture: Picture;
};
type Moment = [string, Known][];
type Answer = { log: number; found: Found; gaussians: Gaussians[] };

const POINTS = 49;

export class Session {
  #at = new Map<string, number>();
  #lines = new Map<string, { group: number; line: number }>();
  #tree: JointTree;
  #moments: Moment[] = [[]];
  #now = 0;
  #version = 0;

  constructor(readonly net: Network) {
    const arities = net.variables.map((v) => v.states.length);
    net.variables.forEach((v, i) => this.#at.set(v.name, i));
    net.groups.forEach((g, group) => g.lines.forEach((l, line) => this.#lines.set(l.name, { group, line })));
    this.#tree = new JointTree(arities, [...net.tables, ...net.groups].map((part) => part.scope), net.order);
  }

  get #moment() {
    return this.#moments[this.#now]!;
  }

  /** Answer one request, as the server would. */
  dispatch(name: string, request: any): unknown {
    const questions: Record<string, () => object> = {
      open: () => this.#open(), panel: () => this.#panel(request.selected, request.costs ?? {}), script: () => ({ script: this.#script() }),
      intervals: () => ({ intervals: null, why: "This page answers without Python, which draws them." }),
      node: () => this.#node(request.name), edge: () => this.#edge(request.from, request.to),
    };
    if (questions[name]) return { seq: request.seq, version: this.#version, ...questions[name]() };
    const changes: Record<string, () => Moment | void> = {
      click: () => this.#click(request.name, request.state, request.how),
      value: () => this.#value(request.name, request.value, request.how),
      soft: () => this.#soft(request.name, request.weights),
      clear: () => (request.name === null ? [] : this.#knowing(request.name, null)),
      undo: () => void this.#now--, redo: () => void this.#now++,
    };
    if (!changes[name]) throw new Error("This page answers by itself and cannot do that; use credo studio.");
    const moment = changes[name]();
    if (moment) this.#moments = [...this.#moments.slice(0, ++this.#now), moment];
    this.#version = request.seq;
    return this.#shown();
  }

  // --- changes -----------------------------------------------------------------------------------

  #known = (name: string) => new Map(this.#moment).get(name) ?? null;

  #knowing(name: string, known: Known | null): Moment {
    if (known && this.#known(name)) return this.#moment.map(([n, k]) => [n, n === name ? known : k]);
    const rest = this.#moment.filter(([n]) => n !== name);
    return known ? [...rest, [name, known]] : rest;
  }

  #click(name: string, state: number, how: How): Moment {
    const before = this.#known(name), n = this.#variable(name).states.length;
    const made = (how: Held, states: number[]): Known => ({ how, states, value: null, weights: [] });
    if (how === "is" || how === "do")
      return this.#knowing(name, before?.how === how && before.states[0] === state ? null : made(how, [state]));
    const same = before && (before.how === how || (how === "in" && before.how === "is"));
    const states = new Set(same ? before.states : []);
    if (!states.delete(state)) states.add(state);
    if (how === "not" && states.size === n) throw new Error(`Every other state of ${name} is ruled out already, so this one is true.`);
    if (states.size === 0 || states.size === n) return this.#knowing(name, null);
    return this.#knowing(name, made(how === "in" && states.size === 1 ? "is" : how, [...states].sort((a, b) => a - b)));
  }

  #value(name: string, value: number, how: How): Moment {
    const at = this.#lines.get(name);
    const counts = at ? false : this.#variable(name).bins!.counts;
    if (at ? !holds(this.#line(name).transform, value) : counts && (value < 0 || !Number.isInteger(value)))
      throw new Error(`${name} cannot be ${value}.`);
    return this.#knowing(name, { how, states: [], value, weights: [] });
  }

  #soft(name: string, weights: number[]): Moment {
    const most = Math.max(...weights);
    if (!(most > 0) || weights.some((w) => !(w >= 0))) throw new Error("The likelihoods must be numbers from 0 on, one of them above 0.");
    return this.#knowing(name, { how: "soft", states: [], value: null, weights: weights.map((w) => w / most) });
  }

  // --- the answer to a moment --------------------------------------------------------------------

  #variable = (name: string) => this.net.variables[this.#at.get(name)!]!;
  #line(name: string) {
    const { group, line } = this.#lines.get(name)!;
    return this.net.groups[group]!.lines[line]!;
  }

  /** Tables, densities and weights of what is known, as the joint tree takes them. */
  #ready(moment: Moment, more?: { variable: number; state: number }) {
    const weights: number[][] = [];
    const seen = new Map<string, number>(), done = new Map<string, number>(), cut = new Set<number>();
    let log = 0;
    for (const [name, k] of moment) {
      if (this.#lines.has(name)) {
        const { transform } = this.#line(name);
        (k.how === "do" ? done : seen).set(name, forward(transform, k.value!));
        if (k.how !== "do") log += logSlope(transform, k.value!);
        continue;
      }
      const v = this.#at.get(name)!, { states, bins } = this.net.variables[v]!;
      if (k.value !== null && k.how !== "do") log += Math.log(within(bins!, k.value));
      const held = k.value !== null ? [bin(bins!, k.value)] : k.states;
      weights[v] = k.how === "soft" ? k.weights : states.map((_, i) => Number(held.includes(i) !== (k.how === "not")));
      if (k.how === "do") cut.add(v);
    }
    if (more) weights[more.variable] = this.net.variables[more.variable]!.states.map((_, i) => Number(i === more.state) * (weights[more.variable]?.[i] ?? 1));
    const gaussians = this.net.groups.map((g) => conditioned(g, this.#tree.arities, seen, done));
    const densities = gaussians.map(({ density }) => {
      const top = Math.max(...density);
      log += top;
      return density.map((x) => Math.exp(x - top));
    });
    const tables = this.net.tables.map(({ scope, p }) => (cut.has(scope.at(-1)!) ? new Float64Array(p.length).fill(1) : p));
    return { factors: [...tables, ...densities], weights, log, gaussians };
  }

  #answer(moment: Moment, more?: { variable: number; state: number }): Answer {
    const { factors, weights, log, gaussians } = this.#ready(moment, more);
    const found = this.#tree.sum(factors, weights);
    return { log: log + found.log, found, gaussians };
  }

  #number(name: string, { found, gaussians }: Answer): Seen {
    const at = this.#lines.get(name);
    if (!at) return binned(this.#variable(name).bins!, found.marginals[this.#at.get(name)!]!);
    const { means, variances } = gaussians[at.group]!;
    const weights = found.joint(this.net.tables.length + at.group);
    const of = (all: number[][]) => all.map((each) => each[at.line]!);
    return mixture(weights, of(means), of(variances), this.#line(name).transform);
  }

  #belief(box: { name: string; number: boolean }, answer: Answer): Belief {
    const known = this.#known(box.name);
    if (known && known.value !== null) return { value: known.value };
    if (!box.number) return { p: [...answer.found.marginals[this.#at.get(box.name)!]!] };
    const { mean, sd, quantile, density } = this.#number(box.name, answer);
    const first = quantile(0.002), last = quantile(0.998);
    const x = Array.from({ length: POINTS }, (_, i) => first + ((last - first) * i) / (POINTS - 1));
    return { mean, sd, low: quantile(0.025), high: quantile(0.975), x, y: x.map(density) };
  }

  #shown(): Now {
    const answer = this.#answer(this.#moment);
    const impossible = answer.log === -Infinity ? this.#conflict() : null;
    const all = this.net.picture.nodes.map((box) => [box.name, impossible ? {} : this.#belief(box, answer)] as const);
    return {
      version: this.#version, known: Object.fromEntries(this.#moment), row: null, actual: null,
      undo: this.#now > 0, redo: this.#now + 1 < this.#moments.length,
      beliefs: impossible ? null : Object.fromEntries(all), impossible, approximate: false,
    };
  }

  /** The smallest part of impossible evidence that is impossible, in words. */
  #conflict(): string {
    let part = this.#moment.filter(([name]) => !this.#lines.has(name));
    for (const item of part) {
      const less = part.filter((other) => other !== item);
      if (this.#answer(less).log === -Infinity) part = less;
    }
    const words = part.map(([name, k]) => {
      if (k.value !== null) return `${name}=${k.value}`;
      const states = k.states.map((i) => this.#variable(name).states[i]).join(" or ");
      return `${name}${k.how === "not" ? " not " : "="}${states}`;
    });
    return `The evidence has probability zero: ${words.join(" and ")} cannot be true${words.length > 1 ? " together" : ""}.`;
  }

  // --- what there is to say ----------------------------------------------------------------------

  #open(): Opened {
    return { title: this.net.title, rows: 0, offline: true, picture: this.net.picture, ...this.#shown() };
  }

  #panel(selected: string | null, costs: Record<string, number>): Said {
    const moment = this.#moment, seen = moment.filter(([, k]) => k.how !== "do"), done = moment.filter(([, k]) => k.how === "do");
    const answer = this.#answer(moment);
    const out: Said = {
      version: this.#version, selected, p: null, density: seen.some(([, k]) => k.value !== null), surprise: null, conflict: null,
      explanation: null, explained: null, moved: null, weights: null, next: null, notes: [],
    };
    if (answer.log === -Infinity) return out;
    out.p = Math.exp(Math.min(answer.log, 700));
    out.surprise = -answer.log / Math.LN2;
    if (seen.length > 1) {
      const alone = seen.reduce((sum, item) => sum + this.#answer([...done, item]).log, 0);
      out.conflict = (alone - answer.log) / Math.LN2;
    }
    if (this.#lines.size === 0) {
      const { factors, weights, log } = this.#ready(moment);
      const best = this.#tree.best(factors, weights);
      const open = this.net.variables.filter((v) => { const k = this.#known(v.name); return !k || (k.how !== "is" && k.how !== "do"); });
      out.explanation = open.map((v) => [v.name, v.states[best.states[this.#at.get(v.name)!]!]!]);
      out.explained = (log + best.log) / Math.LN10;
    } else out.notes.push("The most probable explanation of numbers needs Python.");
    const v = selected === null ? undefined : this.#at.get(selected);
    const known = selected === null ? null : this.#known(selected);
    if (v === undefined || (known && (known.how === "is" || known.how === "do"))) return out;
    const from = (less: Moment) => bits(answer.found.marginals[v]!, this.#answer(less).found.marginals[v]!);
    out.moved = seen.length ? from(done) : 0;
    out.weights = ranked(seen.map((item) => ({ name: item[0], bits: from(moment.filter((other) => other !== item)) })));
    const given = new Set(moment.map(([name]) => name));
    const worth = ({ name, bits }: Weight) => bits / (costs[name] ?? 1);
    out.next = this.#told(moment, v)
      .filter(({ name, bits }) => bits > 1e-9 && !given.has(name))
      .sort((a, b) => worth(b) - worth(a)).slice(0, 5);
    return out;
  }

  /** What each variable tells of one, in bits: Σ P(state) · how far the other moves. */
  #told(moment: Moment, variable: number): Weight[] {
    const { found } = this.#answer(moment), p = found.marginals[variable]!;
    const total = this.net.variables.map(({ name }) => ({ name, bits: 0 }));
    p.forEach((share, state) => {
      if (share === 0) return;
      const there = this.#answer(moment, { variable, state }).found.marginals;
      total.forEach((t, i) => (t.bits += share * bits(there[i]!, found.marginals[i]!)));
    });
    return ranked(total.filter((_, i) => i !== variable));
  }

  #node(name: string): Details {
    if (this.#lines.has(name)) {
      const { intercept, slopes, variance, parents, scope } = this.#line(name);
      const each = intercept.map((a, i) => {
        const terms = parents.map((p, k) => ` + ${(slopes[i * parents.length + k]!).toPrecision(4)} × ${p}`).join("");
        return `${a.toPrecision(4)}${terms}, sd ${Math.sqrt(variance[i]!).toPrecision(4)}`;
      });
      return { name, text: each.slice(0, 200).join("\n"), parents: [...scope.map((v) => this.net.variables[v]!.name), ...parents] };
    }
    const v = this.#at.get(name)!, { scope, p } = this.net.tables.find((t) => t.scope.at(-1) === v)!;
    const n = this.net.variables[v]!.states.length, parents = scope.slice(0, -1).map((u) => this.net.variables[u]!);
    const rows = Array.from({ length: Math.min(200, p.length / n) }, (_, i) => {
      let rest = i;
      const given = parents.map((u) => u.states.length).reduceRight<number[]>((at, r) => { at.unshift(rest % r); rest = Math.floor(rest / r); return at; }, []);
      return { given: given.map((s, k) => parents[k]!.states[s]!), p: p.slice(i * n, i * n + n) };
    });
    return { name, text: null, parents: parents.map((u) => u.name), columns: this.net.variables[v]!.states, rows, more: Math.max(0, p.length / n - 200) };
  }

  #edge(from: string, to: string): Strength {
    const a = this.#at.get(from), b = this.#at.get(to);
    return { from, to, bits: a === undefined || b === undefined ? null : this.#told([], a).find((t) => t.name === to)!.bits };
  }

  #script(): string {
    const text = (name: string, k: Known) => {
      if (k.value !== null) return String(k.value);
      const python = this.#variable(name).python;
      if (k.how === "soft") return `{${python.map((s, i) => `${s}: ${k.weights[i]}`).join(", ")}}`;
      const states = python.filter((_, i) => k.states.includes(i) !== (k.how === "not"));
      return states.length === 1 ? states[0]! : `[${states.join(", ")}]`;
    };
    const dict = (items: Moment) => `{${items.map(([name, k]) => `${JSON.stringify(name)}: ${text(name, k)}`).join(", ")}}`;
    const lines = this.#moments.slice(0, this.#now + 1).map((moment) => {
      const done = moment.filter(([, k]) => k.how === "do"), seen = moment.filter(([, k]) => k.how !== "do");
      return `net${done.length ? `.do(${dict(done)})` : ""}.marginals(${seen.length ? `given=${dict(seen)}` : ""})`;
    });
    return ["import credo as cr", "", "net = ...  # the model of this report", ...lines].join("\n");
  }
}

const ranked = (weights: Weight[]) => weights.sort((a, b) => b.bits - a.bits);

/** Σ now log₂ (now / before): how much an answer tells beyond the one before. */
function bits(now: ArrayLike<number>, before: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < now.length; i++) if (now[i]! > 0) sum += now[i]! * Math.log2(now[i]! / before[i]!);
  return Math.max(0, sum);
}
