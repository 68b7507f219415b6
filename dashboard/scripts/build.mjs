// Builds dist/: the pages, and beside every file that shrinks its Brotli and gzip forms, which the server sends as they are.
// The same sources give the same bytes.
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist");

for (const name of await readdir(out)) {
  if (name !== ".gitignore") await rm(join(out, name), { recursive: true });
}
await build({ root, logLevel: "warn" });

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

async function files(folder) {
  const found = [];
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name);
    if ((await stat(path)).isDirectory()) found.push(...(await files(path)));
    else found.push(path);
  }
  return found;
}
