import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

// A whole page is drawn in each test, on whatever machine; what fails says so in one line.
configure({
  asyncUtilTimeout: 8000,
  getElementError: (message) => new Error(message?.split("\n")[0] ?? "not found"),
});

// jsdom draws nothing: what screens measure is given here, so that virtual lists show their rows.
Object.defineProperties(HTMLElement.prototype, {
  offsetHeight: {
    configurable: true,
    get(this: HTMLElement) {
      return this.dataset.index === undefined ? 600 : 60;
    },
  },
  offsetWidth: { configurable: true, get: () => 1000 },
  offsetParent: {
    configurable: true,
    get(this: HTMLElement) {
      return this.parentElement;
    },
  },
});
Object.defineProperties(Element.prototype, {
  clientHeight: { configurable: true, get: () => 600 },
  clientWidth: { configurable: true, get: () => 1000 },
});
Element.prototype.scrollIntoView = () => {};
Element.prototype.scrollTo = () => {};
Element.prototype.hasPointerCapture = () => false;
Element.prototype.releasePointerCapture = () => {};
Element.prototype.setPointerCapture = () => {};
Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
Range.prototype.getBoundingClientRect = () => new DOMRect();
window.scrollTo = () => {};
// Without layout everything lies at one point, and the edge between panes would take each click.
const rectOf = Element.prototype.getBoundingClientRect;
Element.prototype.getBoundingClientRect = function (this: Element) {
  return this.getAttribute("role") === "separator"
    ? new DOMRect(-5000, -5000, 1, 1)
    : rectOf.call(this);
};
HTMLCanvasElement.prototype.getContext = () => null;

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
