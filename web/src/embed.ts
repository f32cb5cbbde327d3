// Ask and Look inside another page, whose styles and ours do not touch: they live in a shadow tree.
// The styles are made by script, which a policy that forbids inline styles allows.

import { mount, unmount } from "svelte";
import css from "./app.css?inline";
import Embedded from "./Embedded.svelte";

export function embed(host: HTMLElement): () => void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${css}\n:host { display: block; height: 720px; border: 1px solid #8888; }`);
  const target = host.attachShadow({ mode: "open" });
  target.adoptedStyleSheets = [sheet];
  const mounted = mount(Embedded, { target });
  return () => void unmount(mounted);
}
