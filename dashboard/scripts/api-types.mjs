// Writes src/api/schema.d.ts from the server's OpenAPI document; with --check it only compares.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const source = new URL("../../crates/surfaces/openapi.json", import.meta.url);
const target = new URL("../src/api/schema.d.ts", import.meta.url);

const description = JSON.parse(await readFile(source, "utf8"));
for (const path of Object.values(description.paths)) {
  for (const operation of Object.values(path)) {
    // Operation ids are unique only within their tag; without them each operation is described in its place.
    delete operation.operationId;
    // Problems are read by the client in one way for every call.
    for (const status of Object.keys(operation.responses ?? {})) {
      if (Number(status) >= 400) delete operation.responses[status];
    }
  }
}

const header = "// Made by `npm run types` from crates/surfaces/openapi.json. Do not edit.\n\n";
const made = header + astToString(await openapiTS(description, { alphabetize: true, emptyObjectsUnknown: true }));

if (process.argv.includes("--check")) {
  const found = await readFile(target, "utf8").catch(() => "");
  if (found !== made) {
    console.error("src/api/schema.d.ts does not match crates/surfaces/openapi.json; run `npm run types`.");
    process.exit(1);
  }
} else {
  await writeFile(target, made);
}
