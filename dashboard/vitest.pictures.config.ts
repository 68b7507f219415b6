import { defineConfig } from "vitest/config";

/** Pictures for the documentation: `npm run pictures`. */
export default defineConfig({
  test: {
    include: ["scripts/pictures.ts"],
    environment: "node",
    testTimeout: 900_000,
    hookTimeout: 400_000,
    fileParallelism: false,
  },
});
