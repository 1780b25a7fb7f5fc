import { expect, test } from "vitest";
import { newEnvelope } from "../envelope/index.js";
import { type AgentFunction, InboundMessage, type TaskContext } from "../tasks/index.js";
import { agent } from "./agent.js";
import { servedFunction } from "./served-function.js";

const REFERENCE = "https://files.example/report.pdf";
const TASK = {} as TaskContext; // these agents do not use it

async function contentReadBy(upstreamUrls?: readonly string[]): Promise<unknown> {
  let read: unknown;
  const handle: AgentFunction = (message) => {
    read = message.content;
    return "read";
  };
  const made = { ...agent({ name: "reader", description: "reads", handle }), upstreamUrls };
  const message = newEnvelope(
    { content: "see the report", src: "", dst: "reader", context: { artifactRefs: [REFERENCE] } },
    { now: () => 0, newId: () => "m-1" },
  );
  await servedFunction(made, { onError: undefined, large: undefined, reach: "loopback" })(new InboundMessage(message), TASK);
  return read;
}

test("an agent finds the references of a message among its parts", async () => {
  expect(await contentReadBy()).toEqual([
    { kind: "text", text: "see the report" },
    { kind: "url", url: REFERENCE },
  ]);
});

test("a gateway passes the parts on as they were sent", async () => {
  expect(await contentReadBy(["https://upstream.example"])).toEqual([{ kind: "text", text: "see the report" }]);
});
