import { describe, expect, test } from "vitest";
import type { Requirement, Subject } from "../src/protocols/requirement.js";
import { formatDetails, formatGrid, formatGridMarkdown, toGrid } from "./grid.js";
import { runConformance } from "./run.js";

const subject: Subject = {
  url: "http://subject.example/",
  exchange: () => ({ status: 200, headers: {}, body: "" }),
  headers: {},
  newId: () => "1",
};

function requirement(id: string, check: Requirement["check"], change: Partial<Requirement> = {}): Requirement {
  return { id, capability: "connectivity", level: "must", source: "here §1", behaviour: "It does.", check, ...change };
}

const good = requirement("p:good", async () => undefined);
const bad = requirement("p:bad", async () => Promise.reject(new Error("it does not")), {
  wire: { version: "1.0", binding: "B" },
});
const skipped = requirement("p:skipped", async () => ({ skipped: "not here" }));
const mild = requirement("p:mild", async () => Promise.reject(new Error("a pity")), { level: "should" });

const run = (requirements: readonly Requirement[], options: Parameters<typeof runConformance>[2] = {}) =>
  runConformance(subject, [{ id: "p", requirements: async () => requirements }], { now: () => 0, ...options });

describe("runConformance()", () => {
  test("reports a result for each requirement, in order", async () => {
    const { verdicts, counts, schema } = await run([good, bad, skipped]);
    expect(verdicts.map(({ id, outcome, detail }) => [id, outcome, detail])).toEqual([
      ["p:good", "met", undefined],
      ["p:bad", "unmet", "it does not"],
      ["p:skipped", "skipped", "not here"],
    ]);
    expect(counts).toEqual({ met: 1, unmet: 1, skipped: 1, "known gap": 0, "stale gap": 0 });
    expect(schema).toBe(1);
  });

  test("a listed gap is known, and stale once it is met", async () => {
    const { verdicts, conforms } = await run([good, bad], { knownGaps: { "p:good": "old", "p:ba*": "not yet" } });
    expect(verdicts.map(({ outcome, detail }) => [outcome, detail])).toEqual([
      ["stale gap", "it is met now; remove from the list: old"],
      ["known gap", "not yet"],
    ]);
    expect(conforms).toBe(false);
  });

  test("only mandatory requirements decide conformance", async () => {
    expect((await run([good, mild])).conforms).toBe(true);
    expect((await run([good, bad])).conforms).toBe(false);
  });

  test("a check that does not end is unmet, and its request is given up", async () => {
    let gaveUp = "";
    const hanging: Subject = {
      ...subject,
      exchange: (request) =>
        new Promise((_resolve, reject) => {
          request.cancel.onCancel((reason) => {
            gaveUp = reason.code;
            reject(reason);
          });
        }),
    };
    const { CancelSource } = await import("../src/envelope/index.js");
    const { makeRequest } = await import("../src/transport/request.js");
    const stuck = requirement("p:stuck", async (at) => {
      await at.exchange(makeRequest({ method: "GET", url: at.url, cancel: new CancelSource() }));
    });
    const { verdicts } = await runConformance(hanging, [{ id: "p", requirements: async () => [stuck] }], { timeoutMs: 30 });
    expect(verdicts[0]?.detail).toBe("no result within 30 ms");
    expect(gaveUp).toBe("cancelled");
  });

  test("runs only the selected requirements, and reports progress", async () => {
    const seen: string[] = [];
    await run([good, bad, skipped], {
      only: ["p:s", "p:good"],
      onProgress: ({ id }, done, total) => seen.push(`${id} ${done}/${total}`),
    });
    expect(seen).toEqual(["p:good 1/2", "p:skipped 2/2"]);
  });

  test("a local subject gets a reachable webhook, closed after the check; a remote one gets none", async () => {
    const closed: string[] = [];
    const hooked = requirement("p:hook", async ({ openHook }) => {
      if (openHook === undefined) return { skipped: "no webhook" };
      const hook = await openHook();
      const { status } = await fetch(hook.url, { method: "POST", body: "{}" });
      await hook.until(({ length }) => length === 1);
      hook.until(() => false).catch((thrown: Error) => closed.push(thrown.message));
      return Promise.reject(new Error(`${status} ${hook.deliveries[0]?.text}`));
    });
    expect((await run([hooked])).verdicts[0]?.detail).toBe("no webhook");
    const local = { ...subject, url: "http://127.0.0.1:1/" };
    const { verdicts } = await runConformance(local, [{ id: "p", requirements: async () => [hooked] }]);
    expect(verdicts[0]?.detail).toBe("204 {}");
    await expect.poll(() => closed).toEqual(["the webhook is closed"]);
  });

  test("the subject's address has no trailing slash in checks", async () => {
    const { verdicts } = await run([requirement("p:url", async ({ url }) => Promise.reject(new Error(url)))]);
    expect(verdicts[0]?.detail).toBe("http://subject.example");
  });
});

describe("the grid", () => {
  test("has the seed's six capabilities down and the wires across", async () => {
    const report = await run([good, bad, skipped]);
    expect(formatGrid(toGrid(report))).toBe(
      [
        "              p    p 1.0 B",
        "connectivity  ✓ 1  ✗ 0/1",
        "round-trip    –    –",
        "streaming     –    –",
        "long-running  –    –",
        "security      –    –",
        "edge-cases    –    –",
      ].join("\n"),
    );
    expect(formatGridMarkdown(toGrid(report)).split("\n").slice(0, 3)).toEqual([
      "| capability | p | p 1.0 B |",
      "|---|---|---|",
      "| connectivity | ✓ 1 | ✗ 0/1 |",
    ]);
  });

  test("details list failures and count skipped requirements", async () => {
    expect(formatDetails(await run([good, bad, skipped]))).toBe(
      [
        "✗ p:bad (must, here §1)",
        "    It does.",
        "    unmet: it does not",
        "– 1 skipped: not here",
        "1 met, 1 unmet, 1 skipped, 0 known gap, 0 stale gap",
      ].join("\n"),
    );
  });
});
