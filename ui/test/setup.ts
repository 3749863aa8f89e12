import "@testing-library/jest-dom/vitest";
import { cleanup } from "@testing-library/react";
import { afterEach, vi } from "vitest";

// jsdom draws nothing: what screens measure is given here, so that virtual lists show their rows.
Object.defineProperties(HTMLElement.prototype, {
  offsetHeight: { configurable: true, get: () => 600 },
  offsetWidth: { configurable: true, get: () => 1000 },
  offsetParent: {
    configurable: true,
    get(this: HTMLElement) {
      return this.parentElement;
    },
  },
});
Element.prototype.scrollIntoView = () => {};
Element.prototype.scrollTo = () => {};
Element.prototype.hasPointerCapture = () => false;
Element.prototype.releasePointerCapture = () => {};
Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
Range.prototype.getBoundingClientRect = () => new DOMRect();
window.scrollTo = () => {};

globalThis.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

/** Widths that media queries are asked about; tests of folded screens change it. */
export const viewport = { width: 1280 };

window.matchMedia = (query: string) => {
  const max = /max-width: (\d+)px/.exec(query)?.[1];
  return {
    media: query,
    matches: max !== undefined && viewport.width <= Number(max),
    onchange: null,
    addEventListener: () => {},
    removeEventListener: () => {},
    addListener: () => {},
    removeListener: () => {},
    dispatchEvent: () => false,
  };
};

afterEach(() => {
  cleanup();
  viewport.width = 1280;
  localStorage.clear();
  vi.useRealTimers();
});
