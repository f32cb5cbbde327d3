// Continuous variables that hang together: a Gaussian for each configuration of their discrete
// parents, made of their lines and conditioned on one observed number after the other:
//
//   gain = Σ[:, o] / Σ[o, o]      mean += gain (x − mean[o])      Σ −= gain Σ[o, :]

import { cells, places } from "./tree";
import type { Transform } from "./scales";

export type Line = {
  name: string;
  scope: number[];
  parents: string[];
  intercept: number[];
  slopes: number[];
  variance: number[];
  transform: Transform | null;
};
export type Group = { scope: number[]; lines: Line[] };
export type Gaussians = { density: Float64Array; means: number[][]; variances: number[][] };

/** The Gaussians of a group: `seen` are observed numbers, `done` those that were set. */
export function conditioned(
  { scope, lines }: Group, arities: number[], seen: Map<string, number>, done: Map<string, number>,
): Gaussians {
  const cases = cells(scope, arities);
  const ats = lines.map((line) => places(scope, line.scope, arities));
  const index = new Map(lines.map((line, i) => [line.name, i]));
  const out: Gaussians = { density: new Float64Array(cases), means: [], variances: [] };
  for (let d = 0; d < cases; d++) {
    const mean: number[] = [], spread: number[][] = lines.map(() => lines.map(() => 0));
    lines.forEach((line, i) => {
      const set = done.get(line.name), at = ats[i]![d]!;
      const parents = set === undefined ? line.parents.map((name) => index.get(name)!) : [];
      const slopes = parents.map((_, k) => line.slopes[at * parents.length + k]!);
      mean[i] = set ?? line.intercept[at]!;
      spread[i]![i] = set === undefined ? line.variance[at]! : 0;
      parents.forEach((p, k) => {
        mean[i]! += slopes[k]! * mean[p]!;
        for (let j = 0; j < i; j++) spread[i]![j] = spread[j]![i]! += slopes[k]! * spread[p]![j]!;
      });
      parents.forEach((p, k) => (spread[i]![i]! += slopes[k]! * spread[p]![i]!));
    });
    let log = 0;
    for (const [name, x] of seen) {
      const o = index.get(name);
      if (o === undefined) continue;
      const variance = spread[o]![o]!, away = x - mean[o]!, row = [...spread[o]!];
      log -= 0.5 * (Math.log(2 * Math.PI * variance) + away ** 2 / variance);
      lines.forEach((_, i) => {
        const gain = row[i]! / variance;
        mean[i]! += gain * away;
        lines.forEach((_, j) => (spread[i]![j]! -= gain * row[j]!));
      });
    }
    out.density[d] = log;
    out.means.push(mean);
    out.variances.push(spread.map((r, i) => Math.max(0, r[i]!)));
  }
  return out;
}
