import { describe, expect, test } from "vitest";
import { connect, DiscoveryCache } from "../src/index.js";
import { type ClientCheckOptions, checkFault, expectations } from "./client-faults.js";
import { faults } from "./faults.js";

/** Short only where the fault is a peer that hangs: elsewhere a busy machine would turn the outcome into a timeout. */
function optionsFor({ allowed }: (typeof expectations)[number]): ClientCheckOptions {
  const hangs = allowed.some((outcome) => outcome === "deadline");
  const limits = hangs ? { timeoutMs: 800, discoverMs: 1_500 } : { timeoutMs: 12_000, discoverMs: 12_000 };
  return { timeoutMs: 18_000, connect: (url) => connect(url, { ...limits, discoveryCache: new DiscoveryCache() }) };
}

/** What Koine's client reports for each fault of a card. */
const CARD_OUTCOMES: { readonly [fault: string]: string } = {
  "card-html": "unsupported",
  "card-truncated": "unsupported",
  "card-huge": "too_large",
  "card-deep": "unsupported",
  "card-closed-port": "answer",
  "card-unknown-bindings": "answer",
  "card-wrong-version": "answer",
  "card-relative": "answer",
  "card-drip": "deadline",
};

describe("the client, against a misbehaving server", () => {
  test("every fault has an expectation", () => {
    expect(expectations.map(({ fault }) => fault).toSorted()).toEqual(faults.map(({ name }) => name).toSorted());
  });

  for (const expectation of expectations)
    test(expectation.fault, async () => {
      expect(await checkFault(expectation, optionsFor(expectation))).toMatchObject({
        outcome: "met",
        ...(expectation.fault in CARD_OUTCOMES ? { detail: CARD_OUTCOMES[expectation.fault] } : {}),
      });
    });

  test("the outcome of every card fault is written out", () => {
    const cardFaults = faults.filter(({ at }) => at === "card").map(({ name }) => name);
    expect(Object.keys(CARD_OUTCOMES)).toEqual(cardFaults);
  });
});

describe("faulty clients", () => {
  const named = (fault: string) => expectations.filter((each) => each.fault === fault).map((each) => checkFault(each, wrong));
  const wrong = {
    timeoutMs: 500,
    connect: async (url: string) => ({
      // Sends every request twice, accepts any response, has no timeout.
      handler: async () => {
        const post = () =>
          fetch(`${url}/rpc`, { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: "1", method: "SendMessage" }) });
        await (await post()).text();
        await (await post()).text();
        return { kind: "done" } as const;
      },
    }),
  };

  test("a false success is caught", async () => {
    expect(await Promise.all(named("wrong-id"))).toEqual([
      {
        fault: "wrong-id",
        what: "answers with another request's id",
        outcome: "unmet",
        detail: "ended with answer; allowed: bad_peer",
      },
    ]);
  });
  test("a second request is caught", async () => {
    expect(await Promise.all(named("proto-keys"))).toMatchObject([{ outcome: "unmet", detail: "one call made 2 requests" }]);
  });
  test("a followed redirect is caught", async () => {
    const result = await checkFault(
      { fault: "redirect", allowed: ["answer"] },
      {
        ...wrong,
        connect: async (url) => ({
          handler: async () => {
            await fetch(`${url}/rpc`, { method: "POST", body: JSON.stringify({ method: "SendMessage" }) });
            return { kind: "done" } as const;
          },
        }),
      },
    );
    expect(result).toMatchObject({ outcome: "unmet", detail: "a redirect was followed" });
  });
  test("hanging is caught", async () => {
    expect(await Promise.all(named("silent"))).toMatchObject([
      { outcome: "unmet", detail: "Error: the client hangs: no outcome within 500 ms" },
    ]);
  });
});
