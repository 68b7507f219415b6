import { defineConfig } from "vitest/config";

/** Tests in a real browser against the real server. */
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.test.ts"],
    environment: "node",
    // A line for each test, with its time: the log of a run that was ended shows where it was.
    reporters: ["verbose"],
    // Generous: a continuous-integration machine may be twenty times slower than a desk. Tests wait for conditions, so this costs nothing.
    testTimeout: 400_000,
    hookTimeout: 400_000,
    // One server and one browser at a time: the machine may be small.
    fileParallelism: false,
  },
});
