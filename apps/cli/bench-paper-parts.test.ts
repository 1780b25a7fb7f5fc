import { expect, it } from "vitest";
import { paperParts, scaledParameters } from "./bench-paper-parts.js";

const choice = (timeScale: number, parameters: Readonly<Record<string, number>> = {}) => ({
  ...({ suite: "paper", mode: "full", protocols: null, seed: 1, runs: null, parts: null } as const),
  ...{ timeScale, parameters, scaled: scaledParameters() },
});
/** Plans once: whether code can be confined is tried each time. */
const planned = (timeScale: number, parameters?: Readonly<Record<string, number>>) => {
  const parts = paperParts(choice(timeScale, parameters));
  return (name: string) => parts.find((part) => part.name === name)?.options;
};

/** The figures of the paper's appendices D, E and G.10, in milliseconds. */
const LIMITS = { connectTimeout: 10_000, messageTimeout: 30_000, retries: 3 };
/** Table 3c: 1.08 of 9.66 s. */
const QUEUE = { ...LIMITS, requests: 1_000, batch: 50, perWorker: 5, answerLimit: 60_000, serviceSpread: 0.11 };
const STORM = { measure: 1_800_000, killEvery: 120_000, downFor: 2_000, killFraction: 0.375, cycleTimeout: 15_000 };

it("has the parameters of the paper", { timeout: 120_000 }, () => {
  const optionsOf = planned(1);
  expect(optionsOf("streaming-queue")).toMatchObject(QUEUE);
  expect(optionsOf("queue-scale")).toMatchObject({ ...QUEUE, workers: [4, 8, 16, 32] });
  expect(optionsOf("queue-models")).toMatchObject({
    ...QUEUE,
    serviceMs: [expect.any(Number), expect.any(Number), expect.any(Number)],
  });
  expect(optionsOf("queue-pressure")).toMatchObject({ requests: 50, rate: [{ perSecond: 20 }], arrivals: "constant" });
  expect(optionsOf("queue-pressure")).not.toHaveProperty("batch");
  expect(optionsOf("fail-storm")).toMatchObject({ ...LIMITS, ...STORM, heartbeat: 10_000, deadAfter: 30_000 });
  expect(optionsOf("safety")).toMatchObject({ capture: 8_000 });
});

it("divides times by the scale and multiplies rates with it, and leaves numbers alone", { timeout: 120_000 }, () => {
  const optionsOf = planned(20);
  expect(optionsOf("streaming-queue")).toMatchObject({
    ...{ requests: 1_000, batch: 50, perWorker: 5, retries: 3 },
    // Connections are not scaled below two seconds.
    ...{ connectTimeout: 2_000, messageTimeout: 1_500, answerLimit: 3_000 },
  });
  expect(optionsOf("fail-storm")).toMatchObject({
    ...{ measure: 90_000, killEvery: 6_000, downFor: 100, cycleTimeout: 750, heartbeat: 500, deadAfter: 1_500 },
    killFraction: 0.375,
  });
  expect(optionsOf("queue-pressure")).toMatchObject({ rate: [{ perSecond: 400 }] });
  expect(optionsOf("safety")).toMatchObject({ capture: 400 });
});

it("takes each parameter from the choice", { timeout: 120_000 }, () => {
  expect(planned(2, { heartbeat: 4, runtime: 100 })("fail-storm")).toMatchObject({ heartbeat: 2_000, measure: 50_000 });
});
