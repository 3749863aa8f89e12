import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** One window at a time: there is one screen, and two cores have enough to do with one web view. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  test: {
    include: ["*.spec.ts"],
    globalSetup: "screen.ts",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ["verbose"],
  },
});
