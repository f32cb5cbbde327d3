// Numbers as a person sees them: a mixture of Gaussians behind a transform, or intervals with a
// fine histogram in each. Both answer with a mean, a deviation, quantiles and a density.

export type Transform = { kind: string; centre: number; spread: number; power: number; low: number | null; high: number | null };
export type Bins = {
  cuts: number[]; ends: (number | null)[]; start: number[]; share: number[]; below: number[];
  atoms: (number | null)[]; tails: (number | null)[]; mean: number[]; variance: number[]; counts: boolean;
};
export type Seen = { mean: number; sd: number; quantile: (q: number) => number; density: (x: number) => number };

// --- transforms: src/credo/core/scales.py is where they are told of ------------------------------

const power = (u: number, p: number) => (p < 1e-12 ? Math.log1p(u) : Math.expm1(p * Math.log1p(u)) / p);
const root = (z: number, p: number) => Math.expm1(p < 1e-12 ? z : Math.log1p(p * z) / p);
const powers = (t: Transform) => (t.kind === "square-root" ? [0.5, 0.5] : [t.power, 2 - t.power]) as [number, number];

export function holds(t: Transform | null, x: number): boolean {
  if (!t) return true;
  const low = t.kind === "log1p" ? t.low! - t.spread : (t.low ?? -Infinity);
  return x > low && x < (t.high ?? Infinity);
}

export function forward(t: Transform | null, x: number): number {
  if (!t) return x;
  if (t.kind === "log") return Math.log((x - t.low!) / t.spread);
  if (t.kind === "log1p") return Math.log1p((x - t.low!) / t.spread);
  if (t.kind === "logit") return Math.log((x - t.low!) / (t.high! - x));
  const u = (x - t.centre) / t.spread, [right, left] = powers(t);
  return u >= 0 ? power(u, right) : -power(-u, left);
}

export function backward(t: Transform | null, z: number): number {
  if (!t) return z;
  if (t.kind === "log") return t.low! + t.spread * Math.exp(z);
  if (t.kind === "log1p") return t.low! + t.spread * Math.expm1(z);
  if (t.kind === "logit") {
    const near = (t.high! - t.low!) * (1 - 1 / (1 + Math.exp(-Math.abs(z))));
    return z > 0 ? t.high! - near : t.low! + near;
  }
  const [right, left] = powers(t);
  return t.centre + t.spread * (z >= 0 ? root(z, right) : -root(-z, left));
}

export function logSlope(t: Transform | null, x: number): number {
  if (!t) return 0;
  if (t.kind === "log") return -Math.log(x - t.low!);
  if (t.kind === "log1p") return -Math.log(t.spread) - Math.log1p((x - t.low!) / t.spread);
  if (t.kind === "logit") return Math.log(t.high! - t.low!) - Math.log(x - t.low!) - Math.log(t.high! - x);
  const u = (x - t.centre) / t.spread, [right, left] = powers(t);
  return ((u >= 0 ? right : left) - 1) * Math.log1p(Math.abs(u)) - Math.log(t.spread);
}

// --- mixtures ------------------------------------------------------------------------------------

/** P(Z < z) of a standard Gaussian, to 1e-7: for ends of intervals, which are read to four digits. */
function below(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) *
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z > 0 ? 1 - tail : tail;
}

const NODES = [0.1834346424956498, 0.525532409916329, 0.7966664774136267, 0.9602898564975363]; // Gauss, 8 nodes
const SHARES = [0.362683783378362, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763];

/** The mean and the variance of x where its transform is a Gaussian: Gauss's rule on panels. */
function behind(t: Transform, mean: number, sd: number): [number, number] {
  const centre = backward(t, mean);
  let total = 0, first = 0, second = 0;
  const low = mean - 12 * sd, high = mean + 12 * sd, bend = Math.min(high, Math.max(low, 0));
  for (const [a, b] of [[low, bend], [bend, high]] as const) {
    const half = (b - a) / 160;
    for (let panel = 0; panel < 80; panel++)
      for (let i = 0; i < 8; i++) {
        const z = a + half * (2 * panel + 1 + (i < 4 ? NODES[i]! : -NODES[i - 4]!));
        const w = half * SHARES[i % 4]! * Math.exp(-0.5 * ((z - mean) / sd) ** 2);
        if (w === 0) continue;
        const away = backward(t, z) - centre;
        total += w;
        first += w * away;
        second += w * away * away;
      }
  }
  const shift = first / total;
  return [centre + shift, second / total - shift * shift];
}

export function mixture(weights: ArrayLike<number>, means: number[], variances: number[], t: Transform | null): Seen {
  const parts = means
    .map((m, i) => ({ w: weights[i]!, m, sd: Math.sqrt(variances[i]!) }))
    .filter((part) => part.w > 0);
  const moments = parts.map(({ m, sd }) => (t ? behind(t, m, sd) : [m, sd * sd]) as [number, number]);
  const mean = parts.reduce((sum, { w }, i) => sum + w * moments[i]![0], 0);
  const variance = parts.reduce((sum, { w }, i) => sum + w * (moments[i]![1] + (moments[i]![0] - mean) ** 2), 0);
  const cdf = (z: number) => parts.reduce((sum, { w, m, sd }) => sum + w * below((z - m) / sd), 0);
  function quantile(q: number) {
    let low = Math.min(...parts.map(({ m, sd }) => m - 8 * sd)), high = Math.max(...parts.map(({ m, sd }) => m + 8 * sd));
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (cdf(middle) < q) low = middle;
      else high = middle;
    }
    return backward(t, (low + high) / 2);
  }
  function density(x: number) {
    if (!holds(t, x)) return 0;
    const z = forward(t, x);
    const at = parts.reduce((s, { w, m, sd }) => s + (w / sd) * Math.exp(-0.5 * ((z - m) / sd) ** 2), 0);
    return (at / Math.sqrt(2 * Math.PI)) * Math.exp(logSlope(t, x));
  }
  return { mean, sd: Math.sqrt(variance), quantile, density };
}

// --- bins: src/credo/core/bins.py is where they are told of --------------------------------------

export const bin = (bins: Bins, x: number) => bins.cuts.filter((cut) => cut < x).length;

/** The density at x of what is in its bin. */
export function within(bins: Bins, x: number): number {
  const { ends, share, tails } = bins, last = share.length - 1;
  let j = 0;
  while (j < last && x > ends[j + 1]!) j++;
  const low = ends[j] ?? -Infinity, high = ends[j + 1] ?? Infinity;
  if (x < low || x > high) return 0;
  const tail = last > 0 ? (j === 0 ? tails[0] : j === last ? tails[1] : null) : null;
  if (tail === null || tail === undefined) return share[j]! / (high - low);
  const away = j === 0 ? high - x : x - low;
  return (share[j]! * Math.exp(-away / tail)) / (-tail * Math.expm1(-(high - low) / tail));
}

export function binned(bins: Bins, p: ArrayLike<number>): Seen {
  const { ends, start, share, tails, atoms } = bins, last = share.length - 1;
  const mean = bins.mean.reduce((sum, m, b) => sum + p[b]! * m, 0);
  const variance = bins.mean.reduce((sum, m, b) => sum + p[b]! * (bins.variance[b]! + (m - mean) ** 2), 0);
  function quantile(q: number) {
    let b = 0, left = q;
    while (b < bins.mean.length - 1 && left > p[b]!) left -= p[b++]!;
    const t = p[b]! > 0 ? Math.min(1, Math.max(0, left / p[b]!)) : 0;
    let j = start[b]!;
    while (j + 1 < start[b + 1]! && bins.below[j + 1]! <= t) j++;
    if (atoms[j] !== null) return atoms[j]!;
    const inside = share[j]! > 0 ? Math.min(1, (t - bins.below[j]!) / share[j]!) : 0;
    const low = ends[j] ?? -Infinity, high = ends[j + 1] ?? Infinity;
    let x = low + inside * (high - low);
    if (last > 0 && j === 0 && tails[0]) x = high + tails[0] * Math.log(inside + (1 - inside) * Math.exp((low - high) / tails[0]));
    else if (last > 0 && j === last && tails[1]) x = low - tails[1] * Math.log1p(inside * Math.expm1((low - high) / tails[1]));
    return bins.counts ? Math.round(x) : x;
  }
  return { mean, sd: Math.sqrt(variance), quantile, density: (x) => p[bin(bins, x)]! * within(bins, x) };
}
