import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KOINE } from "../programs.js";
import { browserPath, keepScreenshot, launch } from "./browser.js";

/** The page of the running demo: what two agents seal for each other, and what becomes of a message that is changed on its way. */

const path = browserPath();
const UP_MS = 60_000;

async function startDemo(): Promise<{ readonly child: ChildProcess; readonly page: string; readonly registry: string }> {
  const child = spawn(process.execPath, [...KOINE, "demo", "--port", "0", "--no-open", "-o", "json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { kind, page, registry } = JSON.parse(line) as { kind: string; page: string; registry: string };
    if (kind !== "up") continue;
    child.stdout.resume();
    return { child, page, registry };
  }
  throw new Error("the demo ended before it was up");
}

describe.skipIf(path === undefined)("the page of the demo", { timeout: UP_MS }, () => {
  let browser: Browser;
  let demo: Awaited<ReturnType<typeof startDemo>>;
  let page: Page;
  const problems: string[] = [];
  beforeAll(async () => {
    [browser, demo] = await Promise.all([launch(path ?? ""), startDemo()]);
    page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
    page.on("pageerror", (error) => void problems.push(error.message));
    await page.goto(demo.page);
  }, UP_MS);
  afterAll(async () => {
    await browser?.close();
    demo?.child.kill("SIGTERM");
    if (demo?.child.exitCode === null) await once(demo.child, "exit");
  });

  it("flips one byte of a sealed message by keyboard, and shows who refused it and why", async () => {
    await page.locator("[data-node=vault].health-up").waitFor();
    await page.locator("[data-node=vault]").focus();
    await page.keyboard.press("Enter");
    const details = page.getByRole("region", { name: "Node details" });
    await details.getByText(demo.registry).first().waitFor();
    const flip = details.getByRole("button", { name: "Flip one byte on the way" });
    await flip.focus();
    await page.keyboard.press("Enter");
    const result = details.getByRole("status").filter({ hasText: "The caller was told" });
    await result.waitFor();
    expect(await result.textContent()).toMatch(
      /^Byte \d+ of \d+ was changed from . to . between the gateway and vault\. vault: request refused \(digest\.mismatch\): .*ErrInvalidSignature\)$/,
    );
    await page.locator("#map-happenings li", { hasText: "digest.mismatch" }).waitFor();
    await keepScreenshot(page, "demo-flip");
  });

  it("shows the wire of a sealed message as ciphertext, with who signed it", async () => {
    await page.getByRole("tab", { name: "Messages" }).click();
    await page.locator("#filter-agent").selectOption("vault");
    await page.locator("#filter-direction").selectOption("in");
    await page.locator(".message-row", { hasText: "send" }).first().click();
    const [wireIn, wireOut] = [page.locator(".step", { hasText: "Wire in" }), page.locator(".step", { hasText: "Wire out" })];
    await wireIn.locator(".wire-seal").waitFor();
    const did = "did:sage:local:0x[0-9a-f]{40}";
    expect(await wireIn.locator(".wire-seal").textContent()).toMatch(new RegExp(`^Ciphertext, signed by ${did}$`));
    expect(await wireOut.locator(".wire-seal").textContent()).toMatch(new RegExp(`^Ciphertext, signed by ${did}$`));
    expect(await wireIn.textContent()).toContain("application/vnd.koine.sealed");
    expect(await page.locator("#inspector").textContent()).not.toContain("insured for");
    await keepScreenshot(page, "demo-sealed");
    expect(problems).toEqual([]);
  });
});
