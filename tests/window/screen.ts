// One virtual screen for the whole run. The server chooses a free number itself, so two runs on
// one machine do not meet.

import { spawn } from "node:child_process";
import type { TestProject } from "vitest/node";
import { firstLine } from "./processes";

declare module "vitest" {
  interface ProvidedContext {
    display: string;
  }
}

export default async function screen(project: TestProject) {
  const args = ["-displayfd", "1", "-screen", "0", "1600x1000x24", "-ac", "-nolisten", "tcp"];
  const server = spawn("Xvfb", args, { stdio: ["ignore", "pipe", "ignore"] });
  project.provide("display", `:${await firstLine(server, "Xvfb")}`);
  return () => {
    server.kill();
  };
}
