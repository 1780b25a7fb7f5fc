import { AgentError, type AgentEvent, type Call, type Operation, type OperationOf, type Reply } from "../../../envelope/index.js";
import { blame } from "../../../transport/fields.js";
import { pollInbox } from "../../poll-inbox.js";
import type { Client, ClientContext } from "../../protocol.js";
import { tlsProtection } from "../../tls-protection.js";
import { answerIn, factsOf } from "../client/answers.js";
import { SignedRequests } from "../client/signed-requests.js";
import { MESSAGE_PATH } from "../wire.js";
import { answerTo, decodePlainAnswer, encodePlain } from "./codec.js";
import { reportDeliveryLoss } from "./losses.js";

/** The seeds' plain form: `POST /anp/message`, one message and its answer, in clear unless the address has TLS. */
export function connectPlain(context: ClientContext): Client {
  const { peer } = context;
  const requests = new SignedRequests({ ...context, identity: undefined }, "signature");
  const base = peer.url.replace(/\/$/, "");

  async function send(operation: OperationOf<"send">, call: Call): Promise<AgentEvent> {
    const { envelope } = operation;
    reportDeliveryLoss(operation, (loss) => call.reportLoss(loss));
    const body = JSON.stringify(encodePlain(envelope, (loss) => call.reportLoss(loss)));
    const response = await requests.send({ method: "POST", url: base + MESSAGE_PATH, body }, call);
    try {
      return answerTo(envelope, decodePlainAnswer(answerIn(response), envelope.id), factsOf(context, call));
    } catch (thrown) {
      throw blame(thrown, "bad_peer");
    }
  }

  async function ping(call: Call): Promise<AgentEvent> {
    answerIn(await requests.send({ method: "GET", url: `${base}/health` }, call));
    return { kind: "done" };
  }

  function handler(operation: Operation, call: Call): Reply {
    switch (operation.kind) {
      case "send":
        return send(operation, call);
      case "ping":
        return ping(call);
      case "card":
        return Promise.resolve({ kind: "card", card: peer.card });
      default:
        return Promise.reject(new AgentError("unsupported_method", "the plain form has no such operation", { sent: "no" }));
    }
  }

  return {
    handler,
    protection: () => tlsProtection(peer.url),
    receive: pollInbox(context),
    close: async () => undefined,
  };
}
