import { AgentError, type Card, type JsonObject, type Maybe, type Operation, type Principal } from "../../../envelope/index.js";
import { readString } from "../../../transport/fields.js";
import type { Host } from "../../protocol.js";
import { type DecodeFacts, decodeOperation, operationOf } from "../codec.js";
import { ASK } from "../wire.js";

/** The agent that a call names; without a name the first. Throws `not_found`. */
export function agentNamed(host: Pick<Host, "cards">, name: Maybe<string>): Card {
  const cards = host.cards();
  const found = name === undefined ? cards[0] : cards.find((card) => card.name === name);
  if (found !== undefined) return found;
  throw new AgentError("not_found", `no agent ${name?.slice(0, 100)} here`, { field: "agent" });
}

/** What a decoder needs to know of a call. */
export function decodeFactsOf(host: Host, caller: Principal, agent: Card): DecodeFacts {
  return {
    partsPerMessage: host.limits.partsPerMessage,
    ts: host.now() / 1_000,
    src: caller.id,
    dst: agent.name,
    newId: () => host.newId(),
  };
}

/** The operation that a method calls. Throws `unsupported_method`. */
export function operationFor(method: string, params: JsonObject, facts: DecodeFacts): Operation {
  const name = operationOf(method);
  if (name !== undefined) return decodeOperation(name, params, facts);
  if (method === ASK) return ask(params, facts);
  throw new AgentError("unsupported_method", `there is no method ${method.slice(0, 100)}; the interface lists those there are`);
}

function ask(params: JsonObject, facts: DecodeFacts): Operation {
  const text = readString(params["text"], "params.text");
  const message = decodeOperation("send", { message: { parts: [{ text }] } }, facts);
  return message;
}
