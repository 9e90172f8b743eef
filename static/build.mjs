// Bundles the browser's files: `node build.mjs [FOLDER]`. The same sources give the same bytes; the folder is emptied first.
import { build } from "esbuild";
import { copyFile, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

// The bundles that a page names, and those that src/later.ts loads when needed. Code that they share becomes chunks.
const SCRIPTS = ["site", "work", "measures", "cuts", "questions", "submission", "play", "bank", "whole", "search", "editor", "report", "preview"];
const STYLES = ["site", "pages", "work", "search", "preview"];

// KaTeX's @font-face rules name files that we do not ship; src/math.css has ours.
const katexStyles = {
  name: "katex-styles",
  setup(bundle) {
    bundle.onLoad({ filter: /katex\.min\.css$/ }, async ({ path }) => {
      const css = await readFile(path, "utf8");
      return { contents: css.replace(/@font-face\{[^}]*\}/g, ""), loader: "css" };
    });
  },
};

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "dist"));

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: [...SCRIPTS.map((name) => `src/${name}.ts`), ...STYLES.map((name) => `src/${name}.css`)],
  outdir: out,
  splitting: true,
  // Fonts are in a folder beside the bundles and are served from there.
  external: ["../fonts/*"],
  plugins: [katexStyles],
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome123", "firefox128", "safari17.5"],
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
});

await copyFile(join(here, "src/mark.svg"), join(out, "mark.svg"));
// The chart library is a separate file, loaded when a chart comes near; it is large, and most pages have no chart.
const charts = join(here, "node_modules/plotly.js-basic-dist-min");
await copyFile(join(charts, "plotly-basic.min.js"), join(out, "plotly.js"));
await copyFile(join(charts, "LICENSE"), join(out, "plotly.LICENSE.txt"));
for (const name of (await readdir(out)).sort()) {
  const bytes = await readFile(join(out, name));
  console.log(`${name.padEnd(24)} ${String(bytes.length).padStart(8)}  gzip ${gzipSync(bytes, { level: 9 }).length}`);
}
