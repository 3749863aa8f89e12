// The real program in a real window, driven through WebKit's driver. Waits are for something to be
// seen, never for time.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Builder, Capabilities, Key, type WebDriver, type WebElement } from "selenium-webdriver";
import { Desktop, program, type Start } from "./desktop";
import { ended, freePort, killGroup } from "./processes";

const shots = fileURLToPath(new URL("shots", import.meta.url));

/** How long something may take to be seen before the test fails, in milliseconds. */
const PATIENCE = 15_000;

/** How long work may take that has to read and embed long texts on a busy machine. */
export const WORK = 120_000;

/** Starts the program and waits for its page. */
export async function startApp(start: Start = {}): Promise<App> {
  const desktop = await Desktop.open(start);
  const [port, nativePort] = [await freePort(), await freePort()];
  const ports = ["--port", String(port), "--native-port", String(nativePort)];
  const driver = spawn("tauri-driver", ports, {
    stdio: "ignore",
    env: desktop.env,
    detached: true,
  });
  try {
    return new App(await connect(port, driver, start.args ?? []), desktop, driver);
  } catch (error) {
    killGroup(driver);
    desktop.close();
    throw error;
  }
}

/** Asks for a session until the driver listens. */
async function connect(port: number, driver: ChildProcess, args: string[]): Promise<WebDriver> {
  const capabilities = new Capabilities();
  capabilities.setBrowserName("wry");
  capabilities.set("tauri:options", { application: program, args });
  const builder = new Builder()
    .withCapabilities(capabilities)
    .usingServer(`http://127.0.0.1:${port}/`);
  for (;;) {
    if (driver.exitCode !== null) throw new Error(`tauri-driver ended (${driver.exitCode})`);
    try {
      return await builder.build();
    } catch (error) {
      if (!String(error).includes("ECONNREFUSED")) throw error;
    }
  }
}

/** A running program. Selectors are CSS; behind a leading `=` stands an accessible name or a shown
 *  text, without the keys that a button shows; `=Approve*` is any name that begins so. */
export class App {
  readonly driver: WebDriver;
  readonly #desktop: Desktop;
  readonly #process: ChildProcess;

  constructor(driver: WebDriver, desktop: Desktop, process: ChildProcess) {
    this.driver = driver;
    this.#desktop = desktop;
    this.#process = process;
  }

  /** The data folder. */
  get data(): string {
    return this.#desktop.data;
  }

  /** Waits until something that the selector names is shown, and returns it. */
  async see(selector: string, patience = PATIENCE): Promise<WebElement> {
    const found = await this.driver.wait(
      () => this.driver.executeScript<WebElement | null>(FIND, selector),
      patience,
      `${selector} was not seen`,
      50,
    );
    if (found === null) throw new Error(`${selector} was not seen`);
    return found;
  }

  /** Whether something that the selector names is shown now. */
  async shows(selector: string): Promise<boolean> {
    return (await this.driver.executeScript(FIND, selector)) !== null;
  }

  /** Waits until nothing that the selector names is shown. */
  async seeGone(selector: string): Promise<void> {
    await this.driver.wait(
      async () => !(await this.shows(selector)),
      PATIENCE,
      `${selector} is still there`,
      50,
    );
  }

  /** Waits until the text stands somewhere on the page. */
  async seeText(text: string, patience = PATIENCE): Promise<void> {
    await this.driver.wait(
      async () => (await this.text("body")).includes(text),
      patience,
      `"${text}" was not seen`,
      50,
    );
  }

  /** Waits until a value asked for again and again satisfies the test, and returns it. */
  async until<T>(
    what: string,
    ask: () => Promise<T>,
    holds: (value: T) => boolean,
    patience = PATIENCE,
  ): Promise<T> {
    let last: T | undefined;
    await this.driver.wait(
      async () => {
        last = await ask();
        return holds(last);
      },
      patience,
      what,
      50,
    );
    return last as T;
  }

  /** The shown text of the first match. */
  text(selector: string): Promise<string> {
    return this.driver.executeScript<string>(
      "return document.querySelector(arguments[0])?.innerText ?? ''",
      selector,
    );
  }

  /** An attribute of the first match; empty when there is none. */
  attribute(selector: string, name: string): Promise<string> {
    return this.driver.executeScript<string>(
      "return document.querySelector(arguments[0])?.getAttribute(arguments[1]) ?? ''",
      selector,
      name,
    );
  }

  /** Where the page is: path, search and hash of its address. */
  path(): Promise<string> {
    return this.driver.executeScript<string>(
      "return location.pathname + location.search + location.hash",
    );
  }

  /** How many elements match now. */
  count(selector: string): Promise<number> {
    return this.driver.executeScript<number>(
      "return document.querySelectorAll(arguments[0]).length",
      selector,
    );
  }

  /** Presses what matches, once it can be pressed: a button may wait for what it leads to. */
  async click(selector: string): Promise<void> {
    const target = await this.see(selector);
    await this.driver.wait(
      () =>
        this.driver.executeScript<boolean>(
          "return arguments[0].closest('[aria-disabled=true]') === null",
          target,
        ),
      PATIENCE,
      `${selector} cannot be pressed`,
      50,
    );
    await this.intoSight(target);
    await target.click();
  }

  /** Scrolls what an edge cuts off to the middle. What lies under something else stays there. */
  private async intoSight(target: WebElement): Promise<void> {
    await this.driver.executeScript(
      `const box = arguments[0].getBoundingClientRect();
       const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
       if (!arguments[0].contains(hit)) arguments[0].scrollIntoView({ block: "center" });`,
      target,
    );
  }

  /** Puts a text into a field in the place of what stands there. */
  async fill(selector: string, text: string): Promise<void> {
    const field = await this.see(selector);
    await field.click();
    await this.press("Control+a", "Backspace");
    await field.sendKeys(text);
  }

  /** Waits until nothing that is shown or still to be drawn changes: no skeleton, no motion. */
  async settled(): Promise<void> {
    await this.driver.wait(
      () =>
        this.driver.executeScript<boolean>(
          `return document.fonts.status === "loaded"
             && document.querySelector("[data-skeleton],[aria-busy=true]") === null
             && document.getAnimations().every((each) => each.playState !== "running");`,
        ),
      PATIENCE,
      "the page does not come to rest",
      50,
    );
  }

  /** Types text where the focus is. */
  async type(text: string): Promise<void> {
    await this.driver.actions().sendKeys(text).perform();
  }

  /** Presses keys one after the other: `"j"`, `"Control+Enter"`, `"Shift+F6"`, `"Escape"`. */
  async press(...keys: string[]): Promise<void> {
    for (const chord of keys) {
      const names = chord === "+" ? ["+"] : chord.split("+");
      const codes = names.map(keyCode);
      let actions = this.driver.actions();
      for (const code of codes) actions = actions.keyDown(code);
      for (const code of codes.toReversed()) actions = actions.keyUp(code);
      await actions.perform();
    }
  }

  /** What has the focus: its accessible name or text. */
  focused(): Promise<string> {
    return this.driver.executeScript<string>(
      "const e = document.activeElement; return e?.getAttribute('aria-label') ?? e?.innerText ?? ''",
    );
  }

  /** Calls a command of the program as the page does. */
  async invoke<T>(command: string, input: Record<string, unknown> = {}): Promise<T> {
    const answer = await this.driver.executeAsyncScript<{ value?: T; error?: unknown }>(
      `const done = arguments[arguments.length - 1];
       window.__TAURI_INTERNALS__.invoke(arguments[0], arguments[1])
         .then((value) => done({ value }), (error) => done({ error }));`,
      command,
      input,
    );
    if ("error" in answer) throw new Error(`${command}: ${JSON.stringify(answer.error)}`);
    return answer.value as T;
  }

  /** Keeps a picture in `tests/window/shots/`. Taken until two in a row are equal, since the first
   *  one after a change can still show the frame before it. */
  async shot(name: string): Promise<void> {
    let last = "";
    const picture = await this.until(
      `${name} does not come to rest`,
      async () => {
        const before = last;
        last = await this.driver.takeScreenshot();
        return before === last ? last : "";
      },
      (settled) => settled !== "",
    );
    write(name, picture);
  }

  /** Keeps a picture of the page as it is now, whatever state it is in. */
  async keep(name: string): Promise<void> {
    const picture = await this.driver.takeScreenshot().catch(() => null);
    if (picture !== null) write(name, picture);
  }

  /** Faults that axe finds on the page as it is now, one line each. */
  async axe(): Promise<string[]> {
    await this.driver.executeScript(axeSource());
    return this.driver.executeAsyncScript<string[]>(
      `const done = arguments[arguments.length - 1];
       axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
         done(violations.flatMap(({ id, help, nodes }) =>
           nodes.map(({ target }) => id + ": " + help + " (" + target.join(" ") + ")"))));`,
    );
  }

  /** The program's own log. */
  log(): string {
    return readFileSync(join(this.data, "logs/palimpsest.log"), "utf8");
  }

  /** Starts the program a second time on the same folder and desktop. Resolves to its exit code. */
  startAgain(args: string[] = []): Promise<number | null> {
    return ended(this.#desktop.run(args));
  }

  /** Ends the program as a power cut would, keeping its folder. */
  crash(): void {
    killGroup(this.#process);
    this.#desktop.close({ keep: true });
  }

  /** Ends everything and removes the folder if this start made it. */
  async stop(): Promise<void> {
    await this.driver.quit().catch(() => undefined);
    killGroup(this.#process);
    this.#desktop.close();
  }
}

function write(name: string, picture: string): void {
  mkdirSync(shots, { recursive: true });
  const file = name.replace(/[^\w-]+/g, "-").slice(0, 80);
  writeFileSync(join(shots, `${file}.png`), Buffer.from(picture, "base64"));
}

/** Defines `find(what)`: the first shown element, by selector, or by name or text behind a `=`. A
 *  label stands for its field. */
const FINDER = `
  const nameOf = (e) => {
    if (e.hasAttribute("aria-label")) return e.getAttribute("aria-label");
    const copy = e.cloneNode(true);
    for (const aside of copy.querySelectorAll("kbd,[aria-hidden=true]")) aside.remove();
    return copy.textContent.replace(/\\s+/g, " ");
  };
  const find = (what) => {
    const name = what.slice(1);
    const fits = name.endsWith("*")
      ? (e) => nameOf(e).trim().startsWith(name.slice(0, -1))
      : (e) => nameOf(e).trim() === name;
    const all = what.startsWith("=")
      ? [...document.querySelectorAll("a,button,input,textarea,select,[role],h1,h2,h3,label")].filter(fits)
      : [...document.querySelectorAll(what)];
    const shown = all.find((e) => e.checkVisibility({ visibilityProperty: true })) ?? null;
    return shown?.tagName === "LABEL" ? (shown.control ?? shown) : shown;
  };`;

const FIND = `${FINDER} return find(arguments[0]);`;

function keyCode(name: string): string {
  if (name.length === 1) return name;
  const codes: Record<string, string> = {
    Control: Key.CONTROL,
    Shift: Key.SHIFT,
    Alt: Key.ALT,
    Enter: Key.ENTER,
    Escape: Key.ESCAPE,
    Tab: Key.TAB,
    Space: Key.SPACE,
    Backspace: Key.BACK_SPACE,
    Delete: Key.DELETE,
    Home: Key.HOME,
    End: Key.END,
    PageUp: Key.PAGE_UP,
    PageDown: Key.PAGE_DOWN,
    ArrowUp: Key.ARROW_UP,
    ArrowDown: Key.ARROW_DOWN,
    ArrowLeft: Key.ARROW_LEFT,
    ArrowRight: Key.ARROW_RIGHT,
    F6: Key.F6,
  };
  const code = codes[name];
  if (code === undefined) throw new Error(`no key is called ${name}`);
  return code;
}

function axeSource(): string {
  const require = createRequire(import.meta.url);
  return readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
}
