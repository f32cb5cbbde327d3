// A joint tree by elimination. The bucket of v holds v, last, and the variables that it meets:
//
//   message(rest) = Σ_v table        belief(rest, v) = belief(rest) · table / message(rest)
//
// Messages go up in the order of elimination, beliefs come down against it (Dechter 1999).

type Bucket = {
  v: number;
  rest: number[];
  parent: number;
  up: Int32Array; // of each cell of the parent, its place in this bucket's message
  own: { factor: number; at: Int32Array }[]; // and its place in each table that is multiplied here
  children: number[];
};
export type Found = {
  log: number; // ln of what all adds up to; -Infinity: nothing is possible
  marginals: Float64Array[];
  joint: (factor: number) => Float64Array; // over the scope of one of the factors
};

export const cells = (scope: number[], arities: number[]) => scope.reduce((n, v) => n * arities[v]!, 1);

/** Of each cell of a scope, the last variable changing fastest, its place in a part of the scope. */
export function places(scope: number[], part: number[], arities: number[]): Int32Array {
  const step = new Map<number, number>();
  part.reduceRight((size, v) => (step.set(v, size), size * arities[v]!), 1);
  let at = new Int32Array(1);
  for (const v of scope) {
    const by = step.get(v) ?? 0, n = arities[v]!;
    const next = new Int32Array(at.length * n);
    for (let i = 0; i < at.length; i++) for (let k = 0; k < n; k++) next[i * n + k] = at[i]! + k * by;
    at = next;
  }
  return at;
}

export class JointTree {
  #buckets: Bucket[] = [];
  #home: { bucket: number; size: number }[] = []; // of each factor

  constructor(readonly arities: number[], scopes: number[][], order: number[]) {
    const turn = new Map(order.map((v, i) => [v, i]));
    const first = (scope: number[]) => Math.min(...scope.map((v) => turn.get(v)!));
    const met = order.map(() => new Set<number>());
    scopes.forEach((scope) => scope.length && scope.forEach((v) => met[first(scope)]!.add(v)));
    order.forEach((v, b) => {
      met[b]!.delete(v);
      const rest = [...met[b]!].sort((x, y) => x - y);
      const parent = rest.length ? first(rest) : -1;
      rest.forEach((u) => met[parent]!.add(u));
      this.#buckets.push({ v, rest, parent, up: new Int32Array(0), own: [], children: [] });
    });
    this.#buckets.forEach((bucket, b) => {
      const above = this.#buckets[bucket.parent];
      if (!above) return;
      above.children.push(b);
      bucket.up = places([...above.rest, above.v], bucket.rest, arities);
    });
    scopes.forEach((scope, factor) => {
      const b = scope.length ? first(scope) : 0;
      const bucket = this.#buckets[b]!;
      this.#home.push({ bucket: b, size: cells(scope, arities) });
      bucket?.own.push({ factor, at: places([...bucket.rest, bucket.v], scope, arities) });
    });
  }

  /** The posterior of every variable; `weights` are evidence, a likelihood for each state. */
  sum(factors: ArrayLike<number>[], weights: (ArrayLike<number> | undefined)[]): Found {
    const { tables, messages, log } = this.#collect(factors, weights, false);
    const marginals = this.arities.map((n) => new Float64Array(n));
    const beliefs: Float64Array[] = [];
    for (let b = this.#buckets.length - 1; b >= 0; b--) {
      const { v, parent, up } = this.#buckets[b]!;
      const n = this.arities[v]!, table = tables[b]!, message = messages[b]!;
      const above = new Float64Array(message.length);
      if (parent < 0) above.fill(1);
      else up.forEach((at, i) => (above[at]! += beliefs[parent]![i]!));
      const belief = (beliefs[b] = table);
      for (let j = 0; j < message.length; j++) {
        const share = message[j]! > 0 ? above[j]! / message[j]! : 0;
        for (let k = 0; k < n; k++) marginals[v]![k]! += belief[j * n + k]! *= share;
      }
    }
    const joint = (factor: number) => {
      const { bucket, size } = this.#home[factor]!;
      const out = new Float64Array(size);
      const at = this.#buckets[bucket]?.own.find((o) => o.factor === factor)!.at;
      at?.forEach((place, i) => (out[place]! += beliefs[bucket]![i]!));
      return size === 1 ? out.fill(1) : out;
    };
    return { log, marginals, joint };
  }

  /** The most probable states of all, and ln of their weight. */
  best(factors: ArrayLike<number>[], weights: (ArrayLike<number> | undefined)[]): { log: number; states: number[] } {
    const { tables, log } = this.#collect(factors, weights, true);
    const states: number[] = this.arities.map(() => 0);
    for (let b = this.#buckets.length - 1; b >= 0; b--) {
      const { v, rest } = this.#buckets[b]!;
      const n = this.arities[v]!;
      const from = n * rest.reduce((place, u) => place * this.arities[u]! + states[u]!, 0);
      for (let k = 1; k < n; k++) if (tables[b]![from + k]! > tables[b]![from + states[v]!]!) states[v] = k;
    }
    return { log, states };
  }

  #collect(factors: ArrayLike<number>[], weights: (ArrayLike<number> | undefined)[], best: boolean) {
    const tables: Float64Array[] = [], messages: Float64Array[] = [];
    let log = 0;
    for (const { v, rest, own, children } of this.#buckets) {
      const n = this.arities[v]!;
      const message = new Float64Array(cells(rest, this.arities));
      const table = new Float64Array(message.length * n).fill(1);
      const times = (values: ArrayLike<number>, at: (i: number) => number) => {
        let top = 0;
        for (let i = 0; i < table.length; i++) top = Math.max(top, (table[i]! *= values[at(i)]!));
        if (top > 0 && top < 1e-100) log += scale(table, top); // many small messages would vanish
      };
      for (const { factor, at } of own) times(factors[factor]!, (i) => at[i]!);
      for (const c of children) times(messages[c]!, (i) => this.#buckets[c]!.up[i]!);
      const weight = weights[v];
      if (weight) times(weight, (i) => i % n);
      for (let j = 0; j < message.length; j++)
        for (let k = 0; k < n; k++) {
          const x = table[j * n + k]!;
          message[j] = best ? Math.max(message[j]!, x) : message[j]! + x;
        }
      let top = 0;
      for (const x of message) top = Math.max(top, x);
      if (top > 0) {
        scale(table, top);
        log += scale(message, top);
      } else log = -Infinity;
      tables.push(table);
      messages.push(message);
    }
    return { tables, messages, log };
  }
}

function scale(values: Float64Array, top: number): number {
  for (let i = 0; i < values.length; i++) values[i]! /= top;
  return Math.log(top);
}
