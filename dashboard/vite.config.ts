import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** The server that `npm run dev` sends requests to. */
const server = process.env.PLANWRIGHT_SERVER ?? "http://127.0.0.1:7717";

/** The server accepts only its own name in `Host` and `Origin`. */
const proxy = {
  target: server,
  changeOrigin: true,
  headers: { origin: server },
};

/**
 * The words of `index.html` are drawn before the styles are there: a style sheet in the head would keep the screen empty until it
 * arrived. Scripts still wait for it.
 */
const wordsFirst = {
  name: "words-first",
  transformIndexHtml: {
    order: "post" as const,
    handler: (html: string) => {
      const sheets = html.match(/ *<link rel="stylesheet"[^>]*>\n?/g) ?? [];
      return sheets.reduce((text, sheet) => text.replace(sheet, ""), html).replace("  </body>", `${sheets.join("")}  </body>`);
    },
  },
};

export default defineConfig({
  plugins: [react(), wordsFirst],
  resolve: {
    alias: {
      // Radix locks scrolling with an inline <style>, which the content security policy forbids. Ours uses a class.
      "react-remove-scroll": fileURLToPath(new URL("src/ui/removeScroll.tsx", import.meta.url)),
    },
  },
  build: {
    target: "es2022",
    outDir: "dist",
    // scripts/build.mjs empties it: its .gitignore stays.
    emptyOutDir: false,
    // Everything is a file of its own: the policy allows no data: scripts, styles or fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // What every page needs is one file: it shrinks better than twenty small ones.
        codeSplitting: { groups: [{ name: "base", test: /node_modules\/(react|react-dom|scheduler|use-sync-external-store|@tanstack|@radix-ui\/react-dialog)\/|\/src\/(texts|ui\/(basics|hidden|Icon|status|toasts|Dialog|removeScroll|Words))/ }] },
      },
    },
  },
  server: {
    proxy: {
      "/api": proxy,
      "/healthz": proxy,
      "/readyz": proxy,
      "/ws": { ...proxy, ws: true },
    },
  },
  test: {
    environment: "node",
    include: ["src/**/*.test.ts", "src/**/*.test.tsx", "tests/*.test.ts"],
    // A process for each of the small files would take most of the time. No test leaves anything behind.
    isolate: false,
    // The pages are tested beside them, and a continuous-integration machine may be twenty times slower than a desk.
    maxWorkers: 1,
    testTimeout: 120_000,
  },
} as import("vite").UserConfig & { test: unknown });
