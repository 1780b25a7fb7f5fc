import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { browserPath, expectClean, keepScreenshot, launch, type Visit, type VisitOptions, visit } from "./browser.js";
import { STARTED_AT } from "./fake-console.js";
import { capturedMessage } from "./fake-messages.js";
import { type ServedPage, servePage } from "./served-page.js";

const path = browserPath();

describe.skipIf(path === undefined)("the panels of the page", { timeout: 60_000 }, () => {
  let browser: Browser;
  let served: ServedPage;
  let visitor: Visit;

  beforeAll(async () => {
    browser = await launch(path ?? "");
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    served = await servePage();
  });
  afterEach(async () => {
    await visitor.leave();
    await served.close();
  });
  const open = async (options?: VisitOptions): Promise<Visit["page"]> => {
    visitor = await visit(browser, served, options);
    return visitor.page;
  };

  it("draws every node with its status as text, and the reason for a missing one", async () => {
    const page = await open();
    const words = await page.locator("[data-node] .card-health").allTextContents();
    expect(words.map((word) => word.trim()).sort()).toEqual(["caller", "down", "missing", "starting", "up", "up", "up", "up"]);
    expect(await page.locator("[data-node=notary]").textContent()).toContain("no registered protocol");
    expect(await page.locator("[data-node=weather] .card-way").textContent()).toBe("agora@0.1/HTTP");
    // Two curves if a gateway translates, one if both sides use the same protocol.
    expect(await page.locator(".link.is-bridged").count()).toBe(5);
    expect(await page.locator(".link:not(.is-bridged)").count()).toBe(1);
    expectClean(visitor, served);
  });

  it("shows traffic as dots and rates, and respects reduced motion", async () => {
    const page = await open();
    const more = (): void =>
      served.console.change({ links: served.console.state().links.map((link) => ({ ...link, messages: link.messages + 20 })) });
    more();
    await page.locator(".traffic .dot").first().waitFor({ state: "attached" });
    await page.locator(".rate", { hasText: "/s" }).first().waitFor();
    await visitor.leave();

    const still = await open({ reducedMotion: "reduce" });
    more();
    await still.locator(".rate", { hasText: "/s" }).first().waitFor();
    expect(await still.locator(".traffic .dot").count()).toBe(0);
  });

  it("opens a message: bytes in, envelope, bytes out and losses, for the request and the response", async () => {
    const page = await open({ panel: "messages" });
    await page.locator(".message-row", { hasText: "traveller → planner" }).click();
    const steps = page.locator(".step");
    await steps.first().waitFor();
    expect(await steps.locator("h3").allTextContents()).toEqual(["Wire in", "Envelope", "Wire out", "Losses"]);
    expect(await steps.nth(0).textContent()).toContain('"method": "SendMessage"');
    expect(await steps.nth(1).textContent()).toContain('"priority": 5');
    expect(await steps.nth(2).textContent()).toContain('"agent_name": "planner"');
    expect(await steps.nth(3).textContent()).toContain("ACP has no place for extensions");
    await keepScreenshot(page, "inspector");

    await page.locator("[data-way=answer]").click();
    expect(await steps.nth(0).textContent()).toContain('"run_id": "r-1"');
    expect(await steps.nth(2).textContent()).toContain("statusUpdate");
    expect(await page.locator(".events").textContent()).toContain("looking at flights");
    expectClean(visitor, served);
  });

  it("shows the trace as a tree of spans, and binary bodies as hex", async () => {
    const page = await open({ panel: "messages" });
    await page.locator(".message-row", { hasText: "traveller → planner" }).click();
    const rows = page.locator("[role=treeitem]");
    await rows.first().waitFor();
    for (const [index, level] of ["1", "2", "3"].entries()) expect(await rows.nth(index).getAttribute("aria-level")).toBe(level);
    await rows.nth(2).click();
    await page.locator(".hex").waitFor();
    expect(await page.locator(".hex").textContent()).toContain("000000  00 00 00 00 05 0a 03 ff");
    expect(await page.locator(".verdict").textContent()).toContain("unavailable: nobody listens there");
  });

  it("shows what crossed the wire of a sealed session as ciphertext, with its size and who signed it", async () => {
    const page = await open({ panel: "messages" });
    const [own, peer] = ["did:wba:gateway.example", "did:wba:customs.example"];
    const sealed = { headers: {}, encoding: "base64", cut: false, sealed: true } as const;
    served.messages.add(
      capturedMessage({
        id: "sealed",
        seq: 90,
        direction: "out",
        agent: "customs",
        text: "12 containers",
        via: { protocol: "anp", version: "1.2", binding: "WS" },
        envelope: { content: { text: "12 containers" } },
        request: { ...sealed, head: "WS /anp/rpc", body: "AAAAAAAAAAGB/w==", bytes: 10, signer: own },
        response: { ...sealed, head: "message", body: "AAAAAAAAAAJC", bytes: 9, signer: peer },
      }),
    );
    await page.locator(".message-row", { hasText: "12 containers" }).click();
    const wire = page.locator(".step", { hasText: "Wire out" });
    await wire.locator(".hex").waitFor();
    expect(await wire.locator(".wire-seal").textContent()).toBe(`Ciphertext, signed by ${own}`);
    expect(await wire.locator(".wire-head").textContent()).toBe("WS /anp/rpc 10 B");
    expect(await wire.locator(".hex").textContent()).toContain("000000  00 00 00 00 00 00 00 01  81 ff");
    expect(await wire.textContent()).not.toContain("12 containers");
    // The gateway is an end of the session: what it read is beside it.
    expect(await page.locator(".step", { hasText: "Envelope" }).textContent()).toContain("12 containers");

    await page.locator("[data-way=answer]").click();
    await page.locator(".wire-seal", { hasText: peer }).waitFor();
    expect(await page.locator(".wire-seal").textContent()).toBe(`Ciphertext, signed by ${peer}`);
    await keepScreenshot(page, "sealed");
    expectClean(visitor, served);
  });

  it("adds messages as they arrive, and updates one in place", async () => {
    const page = await open({ panel: "messages" });
    await page.locator("#message-count", { hasText: "3 messages" }).waitFor();
    const growing = capturedMessage({ id: "late", seq: 90, text: "a late one" });
    served.messages.add({ ...growing, status: "open", endedAt: undefined });
    const row = page.locator(".message-row", { hasText: "a late one" });
    await row.locator("text=in progress").waitFor();
    served.messages.add({ ...growing, seq: 91, status: "failed", error: { code: "deadline", message: "too slow" } });
    await page.locator(".message-row", { hasText: "deadline: too slow" }).waitFor();
    await page.locator("#message-count", { hasText: "4 messages" }).waitFor();
    expectClean(visitor, served);
  });

  it("lists tasks with their states, and the events of the selected one", async () => {
    const page = await open({ panel: "tasks" });
    await page.locator("[data-task=task-1]").click();
    await page.locator("#task-events li").nth(2).waitFor();
    expect(await page.locator(".task-state").allTextContents()).toEqual(["working", "completed", "failed", "input-required"]);
    expect(await page.locator("#task-events").textContent()).toContain("Day one: the Acropolis");
    await keepScreenshot(page, "tasks");
    expectClean(visitor, served);
  });

  it("shows decisions with evidence, margin and rejected alternatives", async () => {
    const page = await open({ panel: "decisions" });
    const first = page.locator(".decision").first();
    expect(await first.textContent()).toContain("0.46");
    expect(await first.locator("q").allTextContents()).toContain("a long-running task with intermediate status updates");
    expect(await first.locator(".rejected").textContent()).toContain("has runs, but no incremental artifacts");
    expect(await page.locator(".decision").nth(2).textContent()).toContain("abstained");
    await keepScreenshot(page, "decisions");
    expectClean(visitor, served);
  });

  it("shows and updates breakers, queues, latencies, counters and events", async () => {
    const page = await open({ panel: "health" });
    expect(await page.locator(".breaker-state").allTextContents()).toEqual(["open", "half-open", "closed"]);
    expect(await page.locator("#queues").textContent()).toContain("58 of 64");
    expect(await page.locator("#latencies .sparkline").count()).toBe(6);
    expect(await page.locator(".tile", { hasText: "hedge fires" }).textContent()).toContain("7");
    served.console.change({ counters: { HEDGE_FIRES: 8 } });
    await page.locator(".tile", { hasText: "8" }).waitFor();
    served.console.happened({ at: STARTED_AT + 99_000, kind: "hedge", subject: "booking", says: "fired once more" });
    await page.locator("#happenings li", { hasText: "fired once more" }).waitFor();
    await keepScreenshot(page, "health");
    expectClean(visitor, served);
  });

  it("sends a message over the selected interface, streams the answer, and links to its trace", async () => {
    const page = await open({ panel: "send" });
    await page.locator("#send-node").selectOption("booking");
    await page.locator("#send-way").selectOption("acp@0.2/REST");
    await page.locator("#send-text").fill("two rooms, please");
    await page.locator("#send-button").click();
    await page.locator(".answer-status", { hasText: "with 2 events" }).waitFor();
    expect(served.console.sent).toEqual([{ node: "booking", way: "acp@0.2/REST", text: "two rooms, please", stream: true }]);
    expect(await page.locator(".answer-log").textContent()).toContain("You said: two rooms, please");
    await keepScreenshot(page, "send");
    await page.locator(".trace-link").click();
    await page.locator("[role=treeitem]").first().waitFor();
    expectClean(visitor, served);
  });

  it("stops an endless answer, and the agent is cancelled", async () => {
    const cancelled = new Promise<void>((resolve) => {
      served.console.answer = async function* (_message, signal) {
        yield { kind: "status", state: "working" };
        await new Promise<void>((go) => signal.addEventListener("abort", () => go(), { once: true }));
        resolve();
      };
    });
    const page = await open({ panel: "send" });
    await page.locator("#send-text").fill("go on for ever");
    await page.locator("#send-button").click();
    await page.locator(".answer-log li").first().waitFor();
    await page.locator("#send-stop").click();
    await page.locator(".answer-status", { hasText: "Stopped" }).waitFor();
    await cancelled;
  });

  it("kills and restarts an agent, and shows the recovery in the map and the events", async () => {
    const page = await open();
    await page.locator("[data-node=booking]").click();
    await page.locator("[data-act=kill]").click();
    await page.locator("[data-node=booking].health-down").waitFor();
    await page.locator("#map-happenings li", { hasText: "killed" }).waitFor();
    await keepScreenshot(page, "killed");
    await page.locator("[data-act=restart]:enabled").click();
    await page.locator("[data-node=booking].health-up").waitFor();
    await page.locator("#map-happenings li", { hasText: "restarted" }).waitFor();
    expect(served.console.acts).toEqual(["kill booking", "restart booking"]);
    expectClean(visitor, served);
  });

  it("changes a byte on the way to a node by keyboard, and says what became of the message", async () => {
    served.console.setNode("booking", { actions: ["flip"] });
    const page = await open();
    await page.locator("[data-node=booking]").click();
    await page.getByRole("button", { name: "Flip one byte on the way" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("status").filter({ hasText: "request refused (digest.mismatch)" }).waitFor();
    expect(served.console.acts).toEqual(["flip booking"]);
    expectClean(visitor, served);
  });
});
