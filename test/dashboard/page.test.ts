import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ANONYMOUS } from "../../src/envelope/index.js";
import type { AdminOptions } from "../../src/index.js";
import { browserPath, expectClean, keepScreenshot, launch, type Visit, type VisitOptions, visit } from "./browser.js";
import { DECISIONS, NODES } from "./fake-console.js";
import { capturedMessage, crowd, storyOf } from "./fake-messages.js";
import { type ServedPage, servePage } from "./served-page.js";

const path = browserPath();
const ATTACK = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"'&amp;`;

describe.skipIf(path === undefined)("the page as a whole", { timeout: 60_000 }, () => {
  let browser: Browser;
  let served: ServedPage;
  let visitor: Visit;

  beforeAll(async () => {
    browser = await launch(path ?? "");
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await visitor.leave();
    await served.close();
  });
  const open = async (messages = storyOf(), options: VisitOptions = {}, admin: AdminOptions = {}): Promise<Visit["page"]> => {
    served = await servePage(messages, admin);
    visitor = await visit(browser, served, options);
    return visitor.page;
  };
  const focused = (page: Visit["page"]): Promise<unknown> =>
    page.evaluate("document.activeElement.id || document.activeElement.className");
  const scrollTo = (page: Visit["page"], position: string): Promise<unknown> =>
    page.evaluate(`{ const box = document.getElementById("message-box"); box.scrollTop = ${position}; }`);

  it("stays fast with 10,000 messages: few rows in the document, and a filter over all", async () => {
    const page = await open(crowd(10_000), { panel: "messages" });
    await page.locator("#message-count", { hasText: "10,000 messages" }).waitFor();
    expect(await page.locator(".message-row").count()).toBeLessThan(60);
    await scrollTo(page, "box.scrollHeight / 2");
    await page.locator(".message-row", { hasText: "message number 5000" }).waitFor();
    await scrollTo(page, "box.scrollHeight");
    await page.locator(".message-row", { hasText: "message number 0" }).first().waitFor();
    expect(await page.locator(".message-row").count()).toBeLessThan(60);

    await page.locator("#filter-text").fill("NEEDLE");
    await page.locator("#message-count", { hasText: "1 of 10,000" }).waitFor();
    await page.locator("#filter-text").fill("");
    await page.locator("#filter-failed").check();
    await page.locator("#message-count", { hasText: "200 of 10,000" }).waitFor();
    await page.locator("#filter-agent").selectOption("weather");
    await page.locator("#filter-protocol").selectOption("a2a");
    await page.locator("#message-count", { hasText: "100 of 10,000" }).waitFor();
    await page.locator("#filter-direction").selectOption("out");
    await page.locator("#message-count", { hasText: "33 of 10,000" }).waitFor();
    await keepScreenshot(page, "messages-filtered");
    expectClean(visitor, served);
  });

  it("keeps the scroll position while messages arrive above, and does not change while paused", async () => {
    const page = await open(crowd(300), { panel: "messages" });
    await page.locator("#message-count", { hasText: "300 messages" }).waitFor();
    await scrollTo(page, "3600");
    const row = page.locator(".message-row", { hasText: "message number 199" });
    await row.waitFor();
    const before = await row.boundingBox();
    for (let seq = 1_000; seq < 1_005; seq++) served.messages.add(capturedMessage({ id: `new-${seq}`, seq }));
    await page.locator("#message-count", { hasText: "305 messages" }).waitFor();
    expect(await row.boundingBox()).toEqual(before);

    await page.locator("#pause").click();
    served.messages.add(capturedMessage({ id: "unseen", seq: 2_000, text: "while you were away" }));
    await page.locator("#message-count", { hasText: "paused, 1 changes since" }).waitFor();
    await scrollTo(page, "0");
    expect(await page.locator(".message-row", { hasText: "while you were away" }).count()).toBe(0);
    await page.locator("#pause").click();
    await page.locator(".message-row", { hasText: "while you were away" }).waitFor();
  });

  it("can be operated by keyboard alone", async () => {
    const page = await open();
    await page.keyboard.press("2");
    await page.locator("#panel-messages:not([hidden])").waitFor();
    expect(await focused(page)).toBe("tab-messages");
    await page.keyboard.press("ArrowLeft");
    expect(await focused(page)).toBe("tab-map");
    await page.keyboard.press("/");
    expect(await focused(page)).toBe("filter-text");
    await page.keyboard.type("translate 2?");
    expect(await page.locator("#filter-text").inputValue()).toBe("translate 2?");
    await page.locator("#filter-text").fill("");
    await page.locator(".message-row[tabindex='0']").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.locator(".step").first().waitFor();
    await page.locator("#inspector-close:focus").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#inspector[hidden]").waitFor({ state: "attached" });
    expect(await focused(page)).toBe("message-row");
    await page.keyboard.press("?");
    await page.locator("#keys[open]").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#keys:not([open])").waitFor({ state: "attached" });
    await page.keyboard.press("1");
    await page.locator("[data-node][tabindex='0']").focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.locator("#node-details h2", { hasText: "notary" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#node-details[hidden]").waitFor({ state: "attached" });
    expect(await page.locator("[data-node=notary]:focus").count()).toBe(1);
    expectClean(visitor, served);
  });

  it("shows everything from the wire as text", async () => {
    const evil = capturedMessage({
      id: ATTACK,
      seq: 1,
      text: ATTACK,
      agent: ATTACK,
      caller: ATTACK,
      traceId: ATTACK,
      via: { protocol: ATTACK, version: ATTACK, binding: ATTACK },
      status: "failed",
      error: { code: "internal", message: ATTACK },
      request: { head: ATTACK, headers: { [ATTACK]: ATTACK }, body: ATTACK, encoding: "utf8", bytes: 9, cut: true },
      envelope: { [ATTACK]: ATTACK },
      losses: [{ protocol: ATTACK, path: ATTACK, valueKind: ATTACK, reason: ATTACK }],
      events: [{ at: 1, kind: ATTACK, state: ATTACK, text: ATTACK }],
    });
    const page = await open([evil]);
    const [first, ...rest] = NODES;
    served.console.tasks = async () => [{ id: ATTACK, agent: ATTACK, state: "working", at: 1, text: ATTACK }];
    served.console.taskEvents = async () => [{ kind: ATTACK, text: ATTACK }];
    served.console.answer = async function* () {
      yield { kind: ATTACK, text: ATTACK };
    };
    served.console.change({
      title: ATTACK,
      nodes: [
        ...rest,
        {
          ...(first ?? NODES[0] ?? rest[0]),
          id: ATTACK,
          title: ATTACK,
          note: ATTACK,
          speaks: [ATTACK],
          kind: "agent",
        } as (typeof NODES)[number],
      ],
      breakers: [{ destination: ATTACK, state: "open", since: 1, because: ATTACK }],
      queues: [{ name: ATTACK, depth: 1, limit: 2, history: [1] }],
      happenings: [{ at: 1, kind: ATTACK, subject: ATTACK, says: ATTACK, traceId: ATTACK }],
      decisions: DECISIONS.map((each) => ({
        ...each,
        module_id: ATTACK,
        evidence_spans: [ATTACK],
        rationale: ATTACK,
        rejected: [{ protocol: ATTACK, because: ATTACK }],
      })),
      counters: { [ATTACK]: 1 },
    });
    await page.locator("#network-title", { hasText: ATTACK }).waitFor();
    await page.locator("[data-node]").last().click();
    await page.locator("#node-details h2", { hasText: ATTACK }).waitFor();
    await page.locator("#tab-tasks").click();
    await page.locator(".task-row").click();
    await page.locator("#task-events .event-text", { hasText: ATTACK }).waitFor();
    await page.locator("#tab-decisions").click();
    await page.locator("q", { hasText: ATTACK }).first().waitFor();
    await page.locator("#tab-health").click();
    await page.locator(".breaker", { hasText: ATTACK }).waitFor();
    await page.locator("#tab-send").click();
    await page.locator("#send-text").fill(ATTACK);
    await page.locator("#send-button").click();
    await page.locator(".answer-log .event-text", { hasText: ATTACK }).waitFor();
    await page.locator("#tab-messages").click();
    await page.locator(".message-row").click();
    await page.locator(".losses", { hasText: ATTACK }).waitFor();
    await page.locator("[data-way=answer]").click();
    await page.locator("#inspector .events", { hasText: ATTACK }).waitFor();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator("img:not(.brand img), main script").count()).toBe(0);
    expectClean(visitor, served);
  });

  it("shows nothing without the token, and how to get it", async () => {
    served = await servePage();
    const context = await browser.newContext();
    const page = await context.newPage();
    visitor = { page, requests: [], problems: [], leave: () => context.close() };
    await page.goto(`${served.url}/koine/`);
    await page.locator("#locked:not([hidden])", { hasText: "token" }).waitFor();
    expect(await page.locator("[data-node]").count()).toBe(0);
  });

  it("is read-only for admitted callers without the token, and shows that", async () => {
    const page = await open(storyOf(), { token: "" }, { admission: () => ANONYMOUS });
    await page.locator("#read-only:not([hidden])").waitFor();
    await page.locator("[data-node=booking]").click();
    expect(await page.locator("[data-act=kill]").isDisabled()).toBe(true);
    expect(await page.locator("#node-details").textContent()).toContain("Read-only");
    await page.locator("#tab-send").click();
    await page.locator("#send-note", { hasText: "Read-only" }).waitFor();
    expect(await page.locator("#send-button").isDisabled()).toBe(true);
    expectClean(visitor, served);
  });

  it("removes the token from the address bar, and keeps it for this tab", async () => {
    const page = await open();
    expect(page.url()).toBe(`${served.url}/koine/#map`);
    await page.reload();
    await page.locator("[data-node=booking]").click();
    await page.locator("[data-act=kill]:enabled").waitFor();
  });

  it("shows a lost feed, and resumes it with the missed messages", async () => {
    const page = await open(storyOf(), { panel: "messages" });
    await page.locator("#message-count", { hasText: "3 messages" }).waitFor();
    served.messages.feeding = false;
    served.messages.cut();
    await page.locator("#banner:not([hidden])").waitFor();
    await keepScreenshot(page, "feed-lost");
    served.messages.add(capturedMessage({ id: "missed", seq: 77, text: "said while nobody listened" }));
    served.messages.feeding = true;
    // Not by its place on the screen: the page may have reconnected by itself meanwhile, and hidden the button.
    await page.locator("#reconnect").dispatchEvent("click");
    await page.locator("#banner[hidden]").waitFor({ state: "attached" });
    await page.locator(".message-row", { hasText: "said while nobody listened" }).waitFor();
  });

  it.each(["light", "dark"] as const)("follows the system theme %s, and a switch changes it", async (colorScheme) => {
    const page = await open(storyOf(), { colorScheme });
    const ground = (): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const system = await ground();
    served.console.change({ links: served.console.state().links.map((link) => ({ ...link, messages: link.messages + 20 })) });
    await page.locator(".traffic .dot").nth(8).waitFor({ state: "attached" });
    await keepScreenshot(page, `map-${colorScheme}`);
    await page.locator("#theme").click();
    const light = await ground();
    await page.locator("#theme").click();
    const dark = await ground();
    expect([light, dark]).toEqual(["rgb(244, 245, 248)", "rgb(11, 14, 21)"]);
    expect(system).toBe(colorScheme === "light" ? light : dark);
  });

  it("fits a small screen without horizontal scrolling", async () => {
    const page = await open(storyOf(), { viewport: { width: 420, height: 860 } });
    for (const panel of ["map", "messages", "tasks", "decisions", "health", "send"]) {
      await page.locator(`#tab-${panel}`).click();
      await page.locator(`#panel-${panel}:not([hidden])`).waitFor();
      const widths = `["panel-${panel}", "message-box"].map((id) => document.getElementById(id)).map((box) => box.scrollWidth - box.clientWidth)`;
      expect(await page.evaluate(`[document.documentElement.scrollWidth - innerWidth, ...${widths}]`)).toEqual([0, 0, 0]);
      await keepScreenshot(page, `small-${panel}`);
    }
  });
});
