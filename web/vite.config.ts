import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// `vite build` makes the studio's page; with `--mode report` or `--mode widget` one script that holds
// everything, for a report's file or a notebook's cell.
export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  publicDir: mode === "production" ? "public" : false,
  build: {
    outDir: process.env.CREDO_STATIC ?? "../src/credo/studio/static",
    emptyOutDir: mode === "production",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // data: addresses are not allowed by the page's policy
    ...(mode !== "production" && {
      lib: { entry: `src/${mode}.ts`, formats: ["es" as const], fileName: mode },
    }),
  },
  define: { "process.env.NODE_ENV": '"production"' },
}));
