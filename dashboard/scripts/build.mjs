// Builds dist/: the pages, and beside every file that shrinks its Brotli and gzip forms, which the server sends as they are.
// The same sources give the same bytes.
import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build, minify } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist");

for (const name of await readdir(out)) {
  if (name !== ".gitignore") await rm(join(out, name), { recursive: true });
}
await preloadRoutes(await build({ root, logLevel: "warn" }));

for (const path of await files(out)) {
  if (!/\.(js|css|html|svg|webmanifest)$/.test(path)) continue;
  const bytes = await readFile(path);
  const forms = {
    br: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
    gz: gzipSync(bytes, { level: 9 }),
  };
  for (const [suffix, compressed] of Object.entries(forms)) {
    if (compressed.length < bytes.length) await writeFile(`${path}.${suffix}`, compressed);
  }
}

/**
 * Adds the script that runs before those of every page: what a link in a notification leads to is asked for beside them, and not after them.
 */
async function preloadRoutes({ output }) {
  const chunks = new Map(output.filter((one) => one.type === "chunk").map((chunk) => [chunk.fileName, chunk]));
  const needed = (name, found = new Set()) => {
    if (!found.has(name)) for (const next of [...(found.add(name), chunks.get(name)?.imports ?? [])]) needed(next, found);
    return found;
  };
  const entry = needed([...chunks.values()].find((chunk) => chunk.isEntry).fileName);
  const routes = [
    ["^/p/[^/]+/run/", "ExecutionPage"],
    ["^/p/", "PlanPage"],
    ["^/s/", "SessionPage"],
  ].map(([path, page]) => {
    const chunk = [...chunks.values()].find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/src/pages/${page}.tsx`));
    if (chunk === undefined) throw new Error(`${page} is no file of its own any more`);
    return [path, [...needed(chunk.fileName)].filter((name) => !entry.has(name)).map((name) => `/${name}`)];
  });
  const source = await readFile(new URL("early.js", import.meta.url), "utf8");
  const { code } = await minify("early.js", `(() => {${source.replace("const ROUTES = [];", `const ROUTES = ${JSON.stringify(routes)};`)}})();`);
  const script = `${code.trim()}\n`;
  const name = `assets/early-${createHash("sha256").update(script).digest("base64url").slice(0, 8)}.js`;
  await writeFile(join(out, name), script);
  const page = join(out, "index.html");
  const html = await readFile(page, "utf8");
  const changed = html.replace('    <script type="module"', `    <script async src="/${name}"></script>\n    <script type="module"`);
  if (changed === html) throw new Error("index.html has no script");
  await writeFile(page, changed);
}

async function files(folder) {
  const found = [];
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name);
    if ((await stat(path)).isDirectory()) found.push(...(await files(path)));
    else found.push(path);
  }
  return found;
}
