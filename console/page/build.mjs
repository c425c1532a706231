// Builds the page into the folder that is named, else into the one that the server reads.
//
// Names are fixed and nothing is read from the folder, so that the same sources make the same bytes.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../turnspan_console/web/static"));
const maps = process.env.DEV === "1";

// Each is a file of its own: no names with hashes. All but `app` are loaded when they are needed.
// The screens share code with `app`, in `shared.js`; the other files take what they need of it from
// the address of `app` (`src/shared.ts`).
const SCREENS = ["src/app.tsx", "src/more_screens.ts"];
const OTHERS = [
  "src/charts.tsx",
  "src/lazy/editor.tsx",
  "src/lazy/markdown.tsx",
  "src/lazy/tree.tsx",
  "src/lazy/waterfall.tsx",
];

// Two copies of Preact in one document would not know each other's components.
const onePreact = {
  name: "one-preact",
  setup({ onResolve }) {
    onResolve({ filter: /^preact(\/|$)/ }, ({ importer }) =>
      importer.includes("/src/lazy/") ? { path: "/static/app.js", external: true } : undefined,
    );
  },
};

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const icons = Object.keys(JSON.parse(readFileSync(join(here, "src/parts/icons.json"), "utf8")));
const sprites = sprite(icons);
const options = {
  absWorkingDir: here,
  external: ["/static/*"],
  entryNames: "[name]",
  chunkNames: "shared",
  plugins: [onePreact],
  outdir: out,
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: !maps,
  sourcemap: maps,
  metafile: true,
  legalComments: "none",
  charset: "utf8",
  // A browser keeps this address: icons are there also while the server is not.
  define: { SPRITE: JSON.stringify(createHash("sha256").update(sprites).digest("hex")) },
  logLevel: "warning",
};
const results = [
  await build({ ...options, entryPoints: SCREENS, splitting: true }),
  await build({ ...options, entryPoints: OTHERS }),
  await build({ ...options, entryPoints: ["src/first.ts"], format: "iife" }),
];
for (const name of ["index.html", "icon.svg"]) {
  await writeFile(join(out, name), await readFile(join(here, "src", name)));
}
await writeFile(join(out, "icons.svg"), sprites);
const bundled = results.flatMap(({ metafile }) => Object.keys(metafile.inputs));
await writeFile(join(out, "NOTICES.txt"), notices([...bundled, "node_modules/lucide-static/"]));

/** One file of symbols: an icon is shown by its name (`parts/icon.tsx`). */
function sprite(names) {
  const symbols = names.map((name) => {
    const file = readFileSync(join(here, `node_modules/lucide-static/icons/${name}.svg`), "utf8");
    const shapes = /<svg[^>]*>(.*)<\/svg>/s.exec(file)[1].replace(/\s*\n\s*/g, "");
    return `<symbol id="${name}" viewBox="0 0 24 24">${shapes}</symbol>\n`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg">\n${symbols.join("")}</svg>\n`;
}

function notices(inputs) {
  const found = new Set(
    inputs.flatMap((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []),
  );
  const head = "What the page's files are made of, beside our own sources.\n";
  return [head, ...[...found].sort().map(notice)].join("\n");
}

function notice(name) {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const file of ["LICENSE", "LICENSE.md", "LICENSE.txt", "license"]) {
    try {
      const text = readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim();
      return `== ${name} ${version} (${license})\n\n${text}\n`;
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
  }
  throw new Error(`${name} has no licence file: look at it, and name it here.`);
}
