// A desktop for one start of the program: a data folder, a message bus and an environment of its
// own, on the screen of the run.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { firstLine, killGroup } from "./processes";

const root = fileURLToPath(new URL("../..", import.meta.url));
const target = resolve(root, process.env.CARGO_TARGET_DIR ?? "target");

/** The program under test; `PALIMPSEST_PROGRAM` names another build of it. */
export const program = process.env.PALIMPSEST_PROGRAM ?? join(target, "debug/palimpsest");

const SIZES = { wide: [1280, 800], narrow: [900, 600] } as const;

/** How the program is started. */
export interface Start {
  /** The data folder; a fresh temporary one when absent, removed when the test is over. */
  data?: string;
  /** Size of the window: 1280×800 or 900×600. */
  size?: keyof typeof SIZES;
  /** What the desktop prefers. */
  theme?: "light" | "dark";
  /** More environment for the program. */
  env?: Record<string, string>;
  /** Arguments of the program. */
  args?: string[];
}

export class Desktop {
  readonly data: string;
  readonly env: Record<string, string>;
  readonly #bus: ChildProcess;
  readonly #ownsData: boolean;

  private constructor(
    data: string,
    env: Record<string, string>,
    bus: ChildProcess,
    ownsData: boolean,
  ) {
    this.data = data;
    this.env = env;
    this.#bus = bus;
    this.#ownsData = ownsData;
  }

  static async open(start: Start = {}): Promise<Desktop> {
    const data = start.data ?? mkdtempSync(join(tmpdir(), "palimpsest-window-"));
    if (start.size !== undefined) keepSize(data, start.size);
    const bus = spawn("dbus-daemon", ["--session", "--nofork", "--print-address=1"], {
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    const env = environment(start, data, await firstLine(bus, "dbus-daemon"));
    return new Desktop(data, env, bus, start.data === undefined);
  }

  /** Starts the program by itself, without a driver. */
  run(args: string[] = []): ChildProcess {
    return spawn(program, args, {
      stdio: "ignore",
      env: this.env,
      cwd: this.data,
      detached: true,
    });
  }

  /** Takes the desktop away, and the folder if it was made for it and is not to be kept. */
  close({ keep = false } = {}): void {
    killGroup(this.#bus);
    if (this.#ownsData && !keep) rmSync(this.data, { recursive: true, force: true });
  }
}

/** What the program sees: nothing of the person's desktop, and none of the drawing switches, with
 *  which the driver's screenshots never return. */
function environment(start: Start, data: string, bus: string): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    const foreign = /^(WEBKIT_|XDG_|WAYLAND_|PALIMPSEST_)/.test(name);
    if (value !== undefined && !foreign) env[name] = value;
  }
  const home = join(data, "home");
  mkdirSync(home, { recursive: true });
  return {
    ...env,
    PATH: [join(root, ".build/tools/bin"), process.env.PATH ?? ""].join(delimiter),
    HOME: home,
    DISPLAY: inject("display"),
    GDK_BACKEND: "x11",
    GTK_THEME: start.theme === "dark" ? "Adwaita:dark" : "Adwaita",
    LIBGL_ALWAYS_SOFTWARE: "1",
    NO_AT_BRIDGE: "1",
    LANG: "C.UTF-8",
    TZ: "UTC",
    DBUS_SESSION_BUS_ADDRESS: bus,
    PALIMPSEST_DATA: data,
    ...start.env,
  };
}

/** There is no window manager to ask, so the size is left where the program keeps its own. */
function keepSize(data: string, size: keyof typeof SIZES): void {
  const [width, height] = SIZES[size];
  const place = { x: 0, y: 0, prev_x: 0, prev_y: 0 };
  const looks = { maximized: false, visible: true, decorated: true, fullscreen: false };
  mkdirSync(data, { recursive: true });
  writeFileSync(
    join(data, "window.json"),
    JSON.stringify({ main: { width, height, ...place, ...looks } }),
  );
}
