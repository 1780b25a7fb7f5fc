import {
  AgentError,
  type AgentEvent,
  answerText,
  type Call,
  type Envelope,
  type Maybe,
  type Part,
  type Principal,
  textOf,
} from "../../../envelope/index.js";
import type { Identity, ResolvedDid } from "../../../security/identity/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import { encodeRpcRequest, parseRpcResponse } from "../../../transport/json-rpc.js";
import type { Host } from "../../protocol.js";
import { writeOriginProof } from "../authentication/origin-proof.js";
import { answerIn } from "../client/answers.js";
import { SignedRequests } from "../client/signed-requests.js";
import { type DirectMessage, encodeDirect } from "../codec/direct.js";
import { errorFromRpc } from "../errors.js";
import { MESSAGE_SERVICE, MESSAGING, PROTOCOL } from "../wire.js";

/** A message that an agent answers. */
export interface Answered {
  readonly message: DirectMessage;
  readonly author: Principal;
  readonly agent: string;
  /** The request that brought it, for the audit log. */
  readonly request: HttpRequest;
  /** The call that it was for the agent. */
  readonly call: Call;
}

/**
 * Sends the answers of agents to direct messages: each as another message (P3), to the message service that the document of the author
 * names. An answer is sent once and not repeated, and nothing is sent in answer to an answer.
 */
export class DirectReplies {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Never throws: nobody waits for it. What could not be sent is reported. */
  async send(event: AgentEvent, answered: Answered): Promise<void> {
    const { identity } = this.#host;
    const content = contentOf(event, answered.call);
    if (identity === undefined || content === undefined) return;
    try {
      await this.#sendTo(this.#envelope(content, answered), answered, identity);
    } catch (thrown) {
      const { code, message } = AgentError.from(thrown);
      if (!(thrown instanceof AgentError)) this.#host.fault(thrown);
      this.#host.refused(answered.request, new AgentError(code, `answer to ${answered.message.senderDid} not sent: ${message}`));
    }
  }

  async #sendTo(envelope: Envelope, { message, author, call }: Answered, identity: Identity): Promise<void> {
    const host = this.#host;
    const { senderDid } = message;
    const { document, from = "public" } = await this.#resolved(senderDid, author, call);
    const service = document.services.find(({ type }) => type === MESSAGE_SERVICE);
    // An author without a message service cannot be answered, and said so in its document.
    if (document.deactivated || service === undefined) return;
    const { meta, body } = encodeDirect(envelope, { senderDid: identity.did, targetDid: senderDid });
    const auth = await writeOriginProof({ method: MESSAGING.direct, meta, body }, identity, () => host.now());
    const id = host.newId();
    const text = encodeRpcRequest(id, MESSAGING.direct, { meta, auth, body });
    await host.outgoing({ owner: author.owner, from, floor: call.floor }, async (link, outgoing) => {
      const requests = new SignedRequests({ link, identity, now: () => host.now() }, "signature");
      const response = await requests.send({ method: "POST", url: service.url, body: text }, outgoing);
      const answer = parseRpcResponse(answerIn(response), id);
      if (answer.kind === "error") throw errorFromRpc(answer.error, response.status, response.headers);
    });
  }

  #resolved(did: string, { owner }: Principal, { cancel }: Call): Promise<ResolvedDid> {
    const { resolver } = this.#host;
    return (resolver.forCaller?.(owner) ?? resolver).resolve(did, cancel);
  }

  #envelope(content: Part, { message, agent }: Answered): Envelope {
    const { sessionId, traceId } = message.envelope.context;
    return {
      id: this.#host.newId(),
      ts: this.#host.now() / 1_000,
      src: agent,
      dst: message.senderDid,
      intent: "",
      role: "agent",
      content: [content],
      context: { sessionId, traceId, parentId: message.messageId },
      meta: {},
    };
  }
}

/** P3 carries one part: several are sent as their text. Undefined: there is nothing to say. */
function contentOf(event: AgentEvent, call: Call): Maybe<Part> {
  if (event.kind === "task") return textPart(answerText(event.task));
  if (event.kind !== "message") return undefined;
  const [first, ...others] = event.message.content;
  if (others.length === 0 && first?.kind !== "url") return first;
  call.reportLoss({
    protocol: PROTOCOL,
    path: "message.parts",
    valueKind: "array",
    reason: "a direct message has one part with content",
  });
  return textPart(textOf(event.message.content));
}

function textPart(text: string): Maybe<Part> {
  return text === "" ? undefined : { kind: "text", text };
}
