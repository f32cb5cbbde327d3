// The answer to a question, asked again after each change; an answer that comes late is dropped.

import { ask } from "./protocol";
import { studio } from "./studio.svelte";

/** `args` may read any state; null asks nothing. */
export function live<T>(name: string, args: () => object | null): { readonly value: T | null } {
  let value = $state.raw<T | null>(null);
  $effect(() => {
    const wanted = args();
    void [studio.now, studio.job?.running];
    let late = false;
    if (wanted === null) value = null;
    else
      ask<T>(name, { seq: 0, ...wanted }).then(
        (found) => { if (!late) value = found; },
        (error: Error) => { if (!late) { value = null; studio.error = error.message; } },
      );
    return () => { late = true; };
  });
  return { get value() { return value; } };
}
