import { describe, expect, test } from "vitest";
import { type AgentEvent, type Handler, type Layer, startCall } from "../envelope/index.js";
import { stack } from "./stack.js";

const DONE: AgentEvent = { kind: "done" };

describe("stack", () => {
  test("the first layer is the outermost", async () => {
    const order: string[] = [];
    const named =
      (name: string): Layer =>
      (next) =>
      (operation, call) => {
        order.push(name);
        return next(operation, call);
      };
    await stack([named("a"), undefined, named("b")])(async () => DONE)({ kind: "ping" }, startCall());
    expect(order).toEqual(["a", "b"]);
  });

  test("without layers the handler stays itself", () => {
    const handler: Handler = async () => DONE;
    expect(stack([undefined])(handler)).toBe(handler);
  });
});
