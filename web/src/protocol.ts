// What the server and the page say to each other; src/credo/studio/session.py is the other end.

export type How = "is" | "in" | "not" | "do";
export type Held = How | "soft";
export type Known = { how: Held; states: number[]; value: number | null; weights: number[] };
export type Box = {
  name: string;
  number: boolean;
  states: string[];
  x: number;
  y: number;
  width: number;
  height: number;
  parents: string[];
  blanket: string[];
};
export type Edge = { from: string; to: string; path: string; head: string };
export type Picture = { nodes: Box[]; edges: Edge[]; width: number; height: number };
export type Belief = {
  p?: number[];
  value?: number;
  mean?: number;
  sd?: number;
  low?: number;
  high?: number;
  x?: number[];
  y?: number[];
};
export type Beliefs = Record<string, Belief>;
export type Now = {
  version: number;
  stale?: boolean;
  net?: number; // another number: another network
  known: Record<string, Known>;
  row: number | null;
  actual: ({ name: string } & Known) | null;
  undo: boolean;
  redo: boolean;
  beliefs: Beliefs | null;
  impossible: string | null;
  approximate: boolean;
};
export type Opened = Now & { title: string; rows: number; offline?: boolean; picture: Picture; job?: Job | null };
export type Graph = { nodes: Place[]; edges: Edge[]; width: number; height: number };
export type Place = { name: string; x: number; y: number; width: number; height: number };
export type Job = {
  what: string;
  running: boolean;
  stopping: boolean;
  seconds: number;
  text: string;
  error: string;
  score: number | null;
  trace: [number, number][];
  graph: Graph | null;
};
export type Weight = { name: string; bits: number };
export type Said = {
  version: number;
  selected: string | null;
  p: number | null;
  density: boolean;
  surprise: number | null;
  conflict: number | null;
  explanation: [string, string][] | null;
  explained: number | null;
  moved: number | null;
  weights: Weight[] | null;
  next: Weight[] | null;
  notes: string[];
};
export type Intervals = {
  version: number;
  intervals: Record<string, [number, number][]> | null;
  why?: string;
};
export type Details = {
  name: string;
  text: string | null;
  parents: string[];
  columns?: string[];
  rows?: { given: string[]; p: number[]; counts?: number[]; low?: number[]; high?: number[] }[];
  fit?: { shares?: number[]; edges?: number[]; density?: number[] } | null;
  more?: number;
};
export type Strength = { from: string; to: string; bits: number | null; probability?: number | null };
export type Gains = { scored_by: string; gains: Record<string, number | null> };
export type Paths = { from: string; to: string; separated: boolean; told: string; paths: string[][] };

type Answerer = (name: string, request: object) => Promise<unknown>;

let answerer: Answerer = overHttp;

/** Who answers instead of the server: a notebook's kernel, or an engine in the page. */
export function answeredBy(other: Answerer) {
  answerer = other;
}

/** One request; a refusal is an Error whose message is the sentence of the one who answers. */
export const ask = <T>(name: string, request: object) => answerer(name, request) as Promise<T>;

export function tab(): string {
  const kept = sessionStorage.getItem("credo");
  if (kept) return kept;
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  const made = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  sessionStorage.setItem("credo", made);
  return made;
}

async function overHttp(name: string, request: object): Promise<unknown> {
  let answer: Response;
  try {
    answer = await fetch(`/api/${tab()}/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(request),
    });
  } catch {
    throw new Error("The studio does not answer; it may have been closed in its terminal.");
  }
  const said = await answer.json().catch(() => ({ error: `The studio answered ${answer.status}.` }));
  if (!answer.ok) throw new Error(said.error);
  return said;
}
