import { mkdirSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { findChromium } from "./find-chromium.js";
import { type ServedPage, TOKEN } from "./served-page.js";

const SCREENSHOTS = ".cache/screenshots";
/** Nothing on a loopback page takes this long, also on a loaded machine; every wait of a test ends with it. */
const PATIENCE_MS = 12_000;

/** Undefined where this machine has no browser: said loudly, and in CI a failure. */
export function browserPath(): string | undefined {
  const path = findChromium();
  if (path !== undefined) return path;
  if (process.env["CI"]) throw new Error("the page must be tested in a browser: install chromium, or set KOINE_CHROMIUM");
  console.warn("SKIPPED: no chromium on this machine, so the page was NOT tested (set KOINE_CHROMIUM)");
  return undefined;
}

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

export interface Visit {
  readonly page: Page;
  /** Everything the page asked for. */
  readonly requests: readonly string[];
  /** What it complained about: errors and warnings of the console, and what it threw. */
  readonly complaints: readonly string[];
  leave(): Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  readonly token?: string | undefined;
  readonly panel?: string;
}

/** Opens the page and waits until it has heard from the gateway. */
export async function visit(browser: Browser, served: ServedPage, options: VisitOptions = {}): Promise<Visit> {
  const { token = TOKEN, panel, ...context } = options;
  const opened = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...context });
  const page = await opened.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => void requests.push(request.url()));
  page.on("pageerror", (error) => void complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  await page.goto(`${served.url}/koine/${token === "" ? "" : `#token=${token}`}`);
  await page.locator("#live[data-live=true]").waitFor();
  await page.locator("[data-node=planner]").waitFor();
  if (panel !== undefined) await page.locator(`#tab-${panel}`).click();
  return { page, requests, complaints, leave: () => opened.close() };
}

/** The page asked nobody but its own gateway, and had nothing to complain about. */
export function expectClean({ requests, complaints }: Visit, served: ServedPage): void {
  expect(requests.length).toBeGreaterThan(5);
  expect(requests.filter((url) => !url.startsWith(`${served.url}/koine/`))).toEqual([]);
  expect(complaints).toEqual([]);
}

/** Kept for whoever wants to see what the tests saw. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
}
