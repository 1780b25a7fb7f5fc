import { AgentError, type AgentEvent, type Call, type Operation } from "../../src/envelope/index.js";
import { type Client, type ClientContext, tlsProtection } from "../../src/protocols/index.js";
import { responseJson } from "../../src/transport/body.js";
import { blame } from "../../src/transport/fields.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { makeRequest } from "../../src/transport/request.js";
import { decodeToy, encodeToy } from "./codec.js";
import { discover } from "./discover.js";
import { decodeToyError } from "./errors.js";
import { readToyReply, type ToyReply } from "./wire.js";

export function connect(context: ClientContext): Client {
  const { link, peer } = context;
  async function callToy(operation: Operation, call: Call): Promise<AgentEvent> {
    if (operation.kind === "ping") {
      const found = await discover(context, peer.url, call);
      if (found === undefined) throw new AgentError("bad_peer", "the peer no longer speaks toy");
      return { kind: "done" };
    }
    if (operation.kind !== "send") throw new AgentError("unsupported_method", `toy has no ${operation.kind}`, { sent: "no" });
    for (const [index, { kind }] of operation.envelope.content.entries()) {
      if (kind !== "text")
        call.reportLoss({ protocol: "toy", path: `message.parts[${index}]`, valueKind: kind, reason: "toy carries text only" });
    }
    const body = JSON.stringify(encodeToy(operation.envelope));
    const headers = { "content-type": "application/json" };
    const response = await link.exchange(makeRequest({ method: "POST", url: peer.url, headers, body, call }));
    const reply = await readReply(response);
    if ("wrong" in reply) throw decodeToyError(reply.wrong, reply.why);
    const facts = { id: context.newId(), now: context.now(), src: peer.card.name, dst: call.caller.id };
    const { sessionId, traceId } = operation.envelope.context;
    return { kind: "message", message: decodeToy({ say: reply.said, session: sessionId, trace: traceId }, "agent", facts) };
  }
  return { handler: callToy, protection: () => tlsProtection(peer.url), close: async () => undefined };
}

async function readReply(response: Parameters<typeof responseJson>[0]): Promise<ToyReply> {
  try {
    return readToyReply(await responseJson(response, DEFAULT_LIMITS));
  } catch (thrown) {
    const error = blame(thrown, "bad_peer");
    throw error.code === "decode" ? new AgentError("bad_peer", error.message, { cause: error }) : error;
  }
}
