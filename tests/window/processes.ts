// Programs that a window test runs beside itself.

import type { ChildProcess } from "node:child_process";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

/** The first line a program prints; fails when it ends or cannot start before that. */
export function firstLine(child: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new Error(`${name} could not be started: ${error}`)));
    child.once("exit", (code) => reject(new Error(`${name} ended early (${code})`)));
    if (child.stdout === null) throw new Error(`${name} has no output to read`);
    createInterface(child.stdout).once("line", resolve);
  });
}

/** Resolves to the exit code, or to null for a program ended by a signal. */
export function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve(child.exitCode);
  }
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}

/** Ends a program and everything that it started. The program must have been started detached. */
export function killGroup(child: ChildProcess) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // Nothing of the group is left.
  }
}

/** A port of this machine that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => {
        if (address === null || typeof address === "string") reject(new Error("no free port"));
        else resolve(address.port);
      });
    });
  });
}
