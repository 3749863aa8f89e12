import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

/**
 * Contrast of every pair that screens rely on, in both themes, from the numbers in tokens.css.
 * OKLCH to linear sRGB after Björn Ottosson (bottosson.github.io/posts/oklab), contrast after WCAG 2.2.
 */
const css = readFileSync(join(import.meta.dirname, "tokens.css"), "utf8");

type Theme = "light" | "dark";
const themes: Theme[] = ["light", "dark"];

const tokens = new Map(
  [...css.matchAll(/--([\w-]+):\s*light-dark\(\s*oklch\(([^)]*)\),\s*oklch\(([^)]*)\)\s*\)/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, { light, dark }],
  ),
);

function luminance(oklch: string): number {
  const [L = 0, C = 0, h = 0] = oklch.trim().split(/\s+/).map(Number);
  const angle = (h * Math.PI) / 180;
  const [a, b] = [C * Math.cos(angle), C * Math.sin(angle)];
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const red = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
  const green = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
  const blue = -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s;
  const clip = (value: number) => Math.min(1, Math.max(0, value));
  return 0.2126 * clip(red) + 0.7152 * clip(green) + 0.0722 * clip(blue);
}

function contrast(fore: string, ground: string, theme: Theme): number {
  const of = (name: string) => {
    const token = tokens.get(name);
    if (!token) throw new Error(`no token --${name}`);
    return luminance(token[theme]);
  };
  const [light, dark] = [of(fore), of(ground)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const grounds = ["bg", "bg-sunken", "bg-raised", "bg-hover", "bg-selected", "accent-soft"];
const pairs: [fore: string, grounds: string[], least: number][] = [
  ["text", [...grounds, "ok-soft", "warn-soft", "bad-soft", "mark"], 7],
  ["text-muted", grounds, 4.5],
  ["text-faint", grounds, 4.5],
  ["accent-text", grounds, 4.5],
  ["on-accent", ["accent", "accent-hover"], 4.5],
  ["ok", ["bg", "bg-sunken", "bg-raised", "ok-soft", "bg-selected"], 4.5],
  ["warn", ["bg", "bg-sunken", "bg-raised", "warn-soft", "bg-selected"], 4.5],
  ["bad", ["bg", "bg-sunken", "bg-raised", "bad-soft", "bg-selected"], 4.5],
  ["add-text", ["add-bg", "add-mark"], 4.5],
  ["del-text", ["del-bg", "del-mark"], 4.5],
  ["add-bar", ["bg", "add-bg"], 3],
  ["del-bar", ["bg", "del-bg"], 3],
  ["focus", grounds, 3],
  ["line-control", ["bg", "bg-raised", "bg-sunken"], 3],
  ["kind-model", ["bg", "bg-sunken"], 3],
  ["kind-tool", ["bg", "bg-sunken"], 3],
  ["kind-retrieve", ["bg", "bg-sunken"], 3],
  ["kind-commit", ["bg", "bg-sunken"], 3],
];

describe("contrast", () => {
  test("the formula agrees with black on white", () => {
    expect((luminance("1 0 0") + 0.05) / (luminance("0 0 0") + 0.05)).toBeCloseTo(21, 1);
  });

  test.each(pairs)("--%s on its grounds", (fore, on, least) => {
    for (const theme of themes) {
      for (const ground of on) {
        const found = contrast(fore, ground, theme);
        expect(found, `--${fore} on --${ground}, ${theme}`).toBeGreaterThanOrEqual(least);
      }
    }
  });
});
