import {
  AgentError,
  type AgentEvent,
  type Call,
  isObject,
  type Operation,
  type OperationOf,
  type Reply,
  raiseFloor,
} from "../../../envelope/index.js";
import { blame } from "../../../transport/fields.js";
import { encodeRpcRequest, parseRpcResponse } from "../../../transport/json-rpc.js";
import type { Client, ClientContext } from "../../protocol.js";
import { tlsProtection } from "../../tls-protection.js";
import { writeOriginProof } from "../authentication/origin-proof.js";
import { encodeDirect } from "../codec/direct.js";
import { errorFromRpc } from "../errors.js";
import { readSettings } from "../settings.js";
import { MESSAGING, PROTOCOL } from "../wire.js";
import { answerIn } from "./answers.js";
import { SignedRequests } from "./signed-requests.js";

/** Messages of P3: each is accepted or refused at once. An answer is another message, which reaches the inbox of this side. */
export function connectDirect(context: ClientContext): Client {
  const { peer, identity, inbox } = context;
  if (identity === undefined) throw new AgentError("unauthenticated", "a direct message needs an identity", { sent: "no" });
  const author = identity;
  const requests = new SignedRequests(context, readSettings(context.settings(PROTOCOL)).authentication);
  const targetDid = new URL(peer.url).searchParams.get("did") ?? "";

  async function rpc(method: string, params: object, call: Call): Promise<unknown> {
    const id = context.newId();
    const response = await requests.send({ method: "POST", url: peer.url, body: encodeRpcRequest(id, method, params) }, call);
    try {
      const answer = parseRpcResponse(answerIn(response), id);
      if (answer.kind === "error") throw errorFromRpc(answer.error, response.status, response.headers);
      return answer.result;
    } catch (thrown) {
      throw blame(thrown, "bad_peer");
    }
  }

  async function send({ envelope, delivery }: OperationOf<"send">, call: Call): Promise<AgentEvent> {
    const { meta, body } = encodeDirect(envelope, { senderDid: author.did, targetDid });
    if (delivery !== "accepted" && inbox.address === undefined)
      throw new AgentError(
        "unsupported",
        `${author.did} is answered at its message service, which this process does not serve: give connect the replies of a server, or do not wait for the answer`,
        { sent: "no" },
      );
    // Whoever waits for the answer must wait before the message is sent. Nobody but the recipient answers it.
    const answer = delivery === "accepted" ? undefined : inbox.expect(envelope.id, call, targetDid);
    answer?.catch(() => undefined);
    if (answer === undefined) inbox.listen(envelope.id, targetDid);
    const auth = await writeOriginProof({ method: MESSAGING.direct, meta, body }, author, () => context.now());
    const accepted = await rpc(MESSAGING.direct, { meta, auth, body }, call);
    if (!isObject(accepted) || accepted["accepted"] !== true)
      throw new AgentError("bad_peer", "the peer did not accept the message", { sent: "maybe" });
    if (answer !== undefined) return { kind: "message", message: await answer };
    const status = { state: "submitted" as const, at: context.now() };
    const contextId = envelope.context.sessionId ?? envelope.id;
    return { kind: "task", task: { id: envelope.id, contextId, status, artifacts: [], history: [] } };
  }

  function handler(operation: Operation, call: Call): Reply {
    switch (operation.kind) {
      case "send":
        return send(operation, call);
      case "ping":
        return rpc(MESSAGING.capabilities, {}, call).then((): AgentEvent => ({ kind: "done" }));
      case "card":
        return Promise.resolve({ kind: "card", card: peer.card });
      default:
        return Promise.reject(new AgentError("unsupported_method", "direct messages have no such operation", { sent: "no" }));
    }
  }

  return {
    handler,
    // The author proves every message. Who answers proves it, too, but only to the server at which the answer arrives.
    protection: () => raiseFloor(tlsProtection(peer.url), { signed: true }),
    receive: (call) => inbox.receive(call),
    close: async () => undefined,
  };
}
