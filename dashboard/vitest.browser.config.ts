import { defineConfig } from "vitest/config";

/** Tests in a real browser against the real server. */
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.test.ts"],
    environment: "node",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One server and one browser at a time: the machine may be small.
    fileParallelism: false,
  },
});
