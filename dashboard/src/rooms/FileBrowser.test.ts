import { expect, test } from "vitest";

import { inFolder } from "./FileBrowser";

const file = (path: string, directory = false) => ({ path, bytes: directory ? null : 1, directory });

test("a folder shows what is directly in it, folders first, however deep the list goes", () => {
  const all = [file("b.md"), file("src/main.rs"), file("src/deep/x.rs"), file("a", true)];
  expect(inFolder(all, "").map(({ path, directory }) => [path, directory])).toEqual([
    ["a", true],
    ["src", true],
    ["b.md", false],
  ]);
  expect(inFolder(all, "src/").map(({ path }) => path)).toEqual(["src/deep", "src/main.rs"]);
});
