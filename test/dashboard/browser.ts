import { mkdirSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { findChromium } from "./find-chromium.js";
import { type ServedPage, TOKEN } from "./served-page.js";

const SCREENSHOTS = ".cache/screenshots";
/** Longer than anything on a loopback page takes, even on a busy machine; bounds every wait. */
const PATIENCE_MS = 12_000;
/** The first navigation also waits for the browser to start its processes. */
const NAVIGATION_MS = 45_000;

/** Undefined without a browser: a warning, and an error in CI. */
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
  /** All requests of the page. */
  readonly requests: readonly string[];
  /** Console errors and warnings, and uncaught errors. */
  readonly problems: readonly string[];
  leave(): Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  readonly token?: string | undefined;
  readonly panel?: string;
}

/** Opens the page and waits for its first event from the gateway. */
export async function visit(browser: Browser, served: ServedPage, options: VisitOptions = {}): Promise<Visit> {
  const { token = TOKEN, panel, ...context } = options;
  const opened = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...context });
  const page = await opened.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.setDefaultNavigationTimeout(NAVIGATION_MS);
  const requests: string[] = [];
  const problems: string[] = [];
  page.on("request", (request) => void requests.push(request.url()));
  page.on("pageerror", (error) => void problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  await page.goto(`${served.url}/koine/${token === "" ? "" : `#token=${token}`}`);
  await page.locator("#live[data-live=true]").waitFor();
  await page.locator("[data-node=planner]").waitFor();
  if (panel !== undefined) await page.locator(`#tab-${panel}`).click();
  return { page, requests, problems, leave: () => opened.close() };
}

/** The page sent requests only to its own gateway, and reported no problems. */
export function expectClean({ requests, problems }: Visit, served: ServedPage): void {
  expect(requests.length).toBeGreaterThan(5);
  expect(requests.filter((url) => !url.startsWith(`${served.url}/koine/`))).toEqual([]);
  expect(problems).toEqual([]);
}

/** Saves a screenshot of the page as tested. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
}
