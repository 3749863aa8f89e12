import "@fontsource-variable/inter";
import "@fontsource-variable/jetbrains-mono";
import "./styles/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import type { Platform } from "./platform";

/** `--mode preview` puts fixtures in the place of the program; the other half is not built in. */
const platform: Platform =
  import.meta.env.MODE === "preview"
    ? (await import("./platform/memory")).memory()
    : (await import("./platform/tauri")).tauri;

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root");
createRoot(root).render(
  <StrictMode>
    <App platform={platform} />
  </StrictMode>,
);

requestAnimationFrame(() => {
  requestAnimationFrame(() => void platform.reportDrawn());
});
