import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reportHtml } from "../../bench/protocols/report/index.js";
import { browserPath, keepScreenshot, launch } from "../dashboard/browser.js";
import { inventedManifest, inventedResult } from "../helpers/bench-result.js";

const path = browserPath();
const ATTACK = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describe.skipIf(path === undefined)("the report in a browser", { timeout: 60_000 }, () => {
  let browser: Browser;
  const folder = mkdtempSync(join(tmpdir(), "koine-report-"));
  beforeAll(async () => {
    browser = await launch(path ?? "");
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens a report from disk, without any network. */
  async function open(
    html: string,
    colorScheme: "light" | "dark",
    width = 1100,
  ): Promise<{ page: Page; problems: readonly string[] }> {
    const file = join(folder, "report.html");
    writeFileSync(file, html);
    const context = await browser.newContext({ colorScheme, offline: true, viewport: { width, height: 900 } });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => void problems.push(error.message));
    page.on("console", (message) => void problems.push(message.text()));
    page.on("request", (request) => void (request.url().startsWith("file:") || problems.push(request.url())));
    await page.goto(pathToFileURL(file).href);
    return { page, problems };
  }

  const result = inventedResult({ runs: 6, requests: 60 });
  const html = reportHtml(result, inventedManifest(result));

  it.each(["light", "dark"] as const)("has no accessibility violation in the %s scheme", async (scheme) => {
    const { page, problems } = await open(html, scheme);
    await page.evaluate(`for (const each of document.querySelectorAll("details")) each.open = true;`);
    // Evaluated by the debugger: the policy of the page allows no script.
    await page.evaluate(AXE);
    const violations = await page.evaluate(
      `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html }) => html.slice(0, 120)).join(" | ")))`,
    );
    expect(violations).toEqual([]);
    await keepScreenshot(page, `bench-report-${scheme}`);
    expect(problems).toEqual([]);
  });

  it("is drawn: bars, lines and dots have a size, in other colours by scheme", async () => {
    const colours: string[] = [];
    for (const scheme of ["light", "dark"] as const) {
      const { page } = await open(html, scheme);
      const drawn = `[...document.querySelectorAll("svg rect, svg path, svg circle")].filter((each) => { const box = each.getBoundingClientRect(); return box.width > 0 || box.height > 0; }).length`;
      expect(await page.evaluate(drawn)).toBeGreaterThan(60);
      colours.push(String(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)));
    }
    expect(new Set(colours).size).toBe(2);
  });

  it("can be read by keyboard: the skip link first, then the contents, and numbers open by Enter", async () => {
    const { page } = await open(html, "light");
    const focused = () => page.evaluate("document.activeElement.textContent");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the results");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Can it be believed?");
    await page.locator("#estimate-1-numbers summary").focus();
    await page.keyboard.press("Enter");
    expect(await page.locator("#estimate-1-numbers table").isVisible()).toBe(true);
  });

  it("does not scroll sideways on a narrow screen", async () => {
    const { page } = await open(html, "light", 380);
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
  });

  it("runs nothing that was in the events", async () => {
    const poisoned = inventedResult({
      arms: [
        { id: ATTACK, addedUs: 100 },
        { id: "b", addedUs: 200 },
      ],
      runs: 2,
      requests: 12,
    });
    const { page, problems } = await open(reportHtml({ ...poisoned, marks: [ATTACK] }), "light");
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator("img, script").count()).toBe(0);
    expect(await page.locator("[role=alert]").textContent()).toContain(ATTACK);
    expect(problems).toEqual([]);
  });
});
