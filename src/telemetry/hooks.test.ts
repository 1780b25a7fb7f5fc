import { describe, expect, test } from "vitest";
import { combineHooks, type EncodeNote } from "./hooks.js";

const note: EncodeNote = {
  edge: { srcAgent: "a", dstId: "b", protocol: "p" },
  traceId: undefined,
  operation: { kind: "ping" },
};

describe("combineHooks", () => {
  test("notifies every observer in order, and has only the hooks that are observed", () => {
    const told: string[] = [];
    const hooks = combineHooks([
      { beforeEncode: () => void told.push("first") },
      { beforeEncode: ({ operation }) => void told.push(operation.kind) },
    ]);
    hooks.beforeEncode?.(note);
    expect(told).toEqual(["first", "ping"]);
    expect(Object.keys(hooks)).toEqual(["beforeEncode"]);
  });

  test("an observer that throws does not affect the others, and its error is reported to the sink", () => {
    const told: string[] = [];
    const errors: unknown[] = [];
    const broken = new Error("broken");
    const hooks = combineHooks(
      [
        {
          beforeEncode() {
            throw broken;
          },
        },
        { beforeEncode: () => void told.push("second") },
      ],
      (thrown, hook) => void errors.push([hook, thrown]),
    );
    hooks.beforeEncode?.(note);
    expect(told).toEqual(["second"]);
    expect(errors).toEqual([["beforeEncode", broken]]);
  });

  test("one that fails later is caught too", async () => {
    const broken = new Error("broken later");
    const caught = new Promise((resolve) => {
      combineHooks([{ beforeEncode: () => Promise.reject(broken) as unknown as void }], resolve).beforeEncode?.(note); // what an async observer does
    });
    expect(await caught).toBe(broken);
  });

  test("a sink that throws, and no sink at all, leave the call alone", () => {
    const broken = {
      beforeEncode(): void {
        throw new Error("broken");
      },
    };
    const sink = (): void => {
      throw new Error("sink broken");
    };
    expect(() => combineHooks([broken], sink).beforeEncode?.(note)).not.toThrow();
    expect(() => combineHooks([broken]).beforeEncode?.(note)).not.toThrow();
  });

  test("an observer may be an object with state", () => {
    class Counter {
      count = 0;
      beforeEncode(): void {
        this.count++;
      }
    }
    const counter = new Counter();
    combineHooks([counter]).beforeEncode?.(note);
    expect(counter.count).toBe(1);
  });
});
