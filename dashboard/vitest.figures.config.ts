import { defineConfig } from "vitest/config";

/** Measurements, not tests: `npm run figures`. */
export default defineConfig({
  test: {
    include: ["scripts/figures.ts"],
    environment: "node",
    testTimeout: 3_600_000,
    hookTimeout: 400_000,
    fileParallelism: false,
  },
});
