import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import { tanstackRouter } from "@tanstack/router-plugin/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * `vite ui` serves the page for the window; `vite ui --mode preview` serves it in a browser over
 * fixtures (`platform/memory`), without the program.
 */
export default defineConfig({
  root: here("."),
  resolve: { alias: { "~": here("./src") } },
  plugins: [
    tanstackRouter({
      target: "react",
      autoCodeSplitting: true,
      routesDirectory: here("./src/routes"),
      generatedRouteTree: here("./src/routes.gen.ts"),
      quoteStyle: "double",
      semicolons: true,
    }),
    react(),
    tailwindcss(),
  ],
  clearScreen: false,
  server: { port: 5210, strictPort: true, watch: { ignored: ["**/src-tauri/**"] } },
  build: {
    target: ["safari17", "chrome120"],
    outDir: here("./dist"),
    emptyOutDir: true,
    sourcemap: false,
    chunkSizeWarningLimit: 900,
  },
  test: {
    environment: "jsdom",
    setupFiles: [here("./test/setup.ts")],
    include: ["src/**/*.test.{ts,tsx}"],
    css: false,
    // A whole page is drawn and judged by axe in most tests, on whatever machine.
    testTimeout: 60_000,
    restoreMocks: true,
  },
});
