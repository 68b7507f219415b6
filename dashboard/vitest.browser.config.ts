import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest files: they begin first, so that no worker waits for one of them at the end. */
const LONGEST_FIRST = ["plan", "rooms", "access"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = LONGEST_FIRST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return found < 0 ? LONGEST_FIRST.length : found;
    };
    return [...files].sort((a, b) => place(a) - place(b));
  }
}

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
    // Two files side by side: one works while the other waits. The files of a worker share its browser and, where they can, its server.
    maxWorkers: 2,
    isolate: false,
    sequence: { sequencer: LongestFirst },
  },
});
