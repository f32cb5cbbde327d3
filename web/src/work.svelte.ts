// What Learn, Build and Check share: the two variables that are picked, the shape of what is told.

import type { Graph } from "./protocol";
import { studio } from "./studio.svelte";

export type Pair = [string, string];
export type Column = {
  name: string; kind: string; used: boolean; reason: string; missing: number;
  chosen: string; states: string[]; more: number; notes: string[];
};
export type Learning = {
  table: { name: string; rows: number; fixed: boolean; columns: Column[] } | null;
  kinds: string[];
  scores: Record<string, string>;
  searches: Record<string, string>;
  targeted: string[];
  plan: {
    score: string; search: string; target: string; seconds: number;
    required: Pair[]; forbidden: Pair[]; tiers: Record<string, number>;
  };
  graph: Graph;
  scored_by: string | null;
  score: number | null;
  how: string;
};
export type Gains = { from: string; to: string; scored_by: string; gains: Record<string, number | null> };
export type Told = { name: string; graph: Graph; score: number | null; scored_by: string | null };
export type Compared = {
  a: Told; b: Told; both: Pair[]; only_a: Pair[]; only_b: Pair[]; turned: Pair[]; equivalent: boolean;
};
export type TableOf = { name: string; parents: string[]; states: string[]; given: string[][]; rows: number[][] };
export type Finding = {
  kind: string; severity: string; sentence: string; advice: string; where: string; at: string[];
};
export type Report = {
  verdict: string; how: string; rows: number; findings: Finding[]; left_out: Record<string, string>;
  surprising: { row: number; bits: number; cell: string; impossible: boolean }[];
  threshold: number | null;
  curves: { name: string; number: boolean; curve: [number, number, number][] }[];
};

class Work {
  from = $state("");
  to = $state("");

  names = $derived(new Set((studio.opened?.picture.nodes ?? []).map((n) => n.name)));
  pair = $derived(
    this.from !== this.to && this.names.has(this.from) && this.names.has(this.to) ? { from: this.from, to: this.to } : null,
  );

  /** The first that is picked is where an edge begins, the second where it ends. */
  pick(name: string) {
    if (this.from === name) this.from = "";
    else if (this.to === name) this.to = "";
    else if (!this.names.has(this.from)) this.from = name;
    else if (!this.names.has(this.to)) this.to = name;
    else [this.from, this.to] = [name, ""];
  }
}

export const work = new Work();
export const key = (pair: Pair) => pair.join("\n");
export const number = (x: number) => x.toLocaleString("en", { maximumFractionDigits: 2 });
export const signed = (x: number) => `${x >= 0 ? "+" : "−"}${number(Math.abs(x))}`;
