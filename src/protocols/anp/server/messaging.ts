import {
  AgentError,
  type AgentEvent,
  type Card,
  floorOf,
  type Json,
  type JsonObject,
  RecentMap,
} from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { SignatureError } from "../../../security/signatures/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import type { RpcId } from "../../../transport/json-rpc.js";
import { writeTimestamp } from "../../../transport/timestamp.js";
import type { Host } from "../../protocol.js";
import { checkOriginProof, type Origin } from "../authentication/origin-proof.js";
import { decodeDirect, readMessagingParams } from "../codec/direct.js";
import { MESSAGING, PROTOCOL, VERSION } from "../wire.js";
import type { ProvenCaller } from "./caller-proof.js";
import { type Answered, DirectReplies } from "./direct-replies.js";
import type { ServedDocuments } from "./documents.js";
import { decodeFactsOf } from "./methods.js";
import { capabilities, negotiate } from "./negotiation.js";

/** A request of messaging or of the meta-protocol. */
export interface MessagingCall {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

const METHODS: ReadonlySet<string> = new Set(Object.values(MESSAGING));
const VIA = { protocol: PROTOCOL, version: VERSION, binding: "DIRECT" } as const;
/** By the origin proof. */
const PROVED = floorOf(["signed", "identity"]);
/** Answers to operations that may be sent again. */
const MAX_OPERATIONS = 10_000;

interface Accepted {
  readonly digest: string;
  readonly result: JsonObject;
}

/** Answers the methods of P1, P3 and ANP-06. Messages are delivered to the inbox; the answer of the agent is
 * another message. */
export class Messaging {
  readonly #host: Host;
  readonly #documents: ServedDocuments;
  readonly #replies: DirectReplies;
  /** By sender, target and operation, oldest first. */
  readonly #operations = new Map<string, Accepted>();

  /** Messages that a full inbox refused, with their digests: the guard knows them, and they may be sent again. */
  readonly #undelivered = new RecentMap<string>(MAX_OPERATIONS);

  constructor(host: Host, documents: ServedDocuments) {
    this.#host = host;
    this.#documents = documents;
    this.#replies = new DirectReplies(host);
  }

  has(method: string): boolean {
    return METHODS.has(method);
  }

  async answer(
    request: HttpRequest,
    { id, method, params }: MessagingCall,
    proven: ProvenCaller,
    agent: Card,
  ): Promise<JsonObject> {
    if (typeof id !== "string" || id === "")
      throw new AgentError("invalid_message", "the id of a message must be a string that is not empty", { field: "id" });
    if (method === MESSAGING.capabilities)
      return capabilities(this.#host.identity?.did, Math.min(this.#host.limits.bodyBytes, this.#host.limits.jsonBytes));
    const { meta, auth, body } = readMessagingParams(params);
    if (method === MESSAGING.negotiate)
      return negotiate(body, {
        at: this.#documents.addresses(this.#host.publicUrl(request), agent.name),
        skills: agent.skills.map((skill) => skill.id),
        nowMs: this.#host.now(),
        newId: () => this.#host.newId(),
      });
    return this.#direct(request, { meta, auth, body }, proven, agent);
  }

  async #direct(
    request: HttpRequest,
    params: ReturnType<typeof readMessagingParams>,
    { caller }: ProvenCaller,
    agent: Card,
  ): Promise<JsonObject> {
    const host = this.#host;
    const message = decodeDirect(params, decodeFactsOf(host, caller, agent));
    const own = host.identity?.did;
    if (message.targetDid !== own)
      throw new AgentError("not_found", "the target of the message is not this agent", { field: "params.meta.target.did" });
    const origin = await this.#checkOrigin(request, params, message.senderDid);
    const key = hashOf([message.senderDid, message.targetDid, message.operationId]);
    const digest = hashOf([message.messageId, params.body]);
    const known = this.#operations.get(key);
    if (known !== undefined && known.digest !== digest)
      throw new AgentError("conflict", "another message was sent with this operation_id", { field: "params.meta.operation_id" });
    if (known !== undefined) return known.result;
    // Who carried it may be a relay: the message is its author's.
    const author = await host.identify(request, origin);
    const call = host.begin(request, { caller: author, agent: agent.name, via: VIA, proved: PROVED });
    const isNew = await this.#isNew(origin, `${key} ${digest}`);
    if (isNew || this.#undelivered.get(key) === digest) {
      this.#undelivered.set(key, digest);
      this.#deliver({ request, message, author, agent: agent.name, call });
      this.#undelivered.delete(key);
    }
    const result: JsonObject = {
      accepted: true,
      message_id: message.messageId,
      operation_id: message.operationId,
      target_did: message.targetDid,
      accepted_at: `${writeTimestamp(host.now()).slice(0, 19)}Z`,
    };
    this.#keep(key, { digest, result });
    return result;
  }

  #deliver(answered: Answered): void {
    const { message, author, call } = answered;
    // An answer is not answered: two agents would otherwise go on for ever.
    const answer = message.replyTo === undefined ? { answered: (event: AgentEvent) => this.#replies.send(event, answered) } : {};
    if (!this.#host.inbox.deliver(message.envelope, author, message.replyTo, { call, ...answer }))
      throw new AgentError("overloaded", "the inbox has no room for more messages of this sender");
  }

  /**
   * Whether no replica has accepted the message. Relays may send it again with its proof, so not the nonce counts but the operation.
   * A guard that has just started cannot know, and the message is taken as new.
   */
  async #isNew({ did, untilMs, fromMs }: Origin, operation: string): Promise<boolean> {
    try {
      return await this.#host.replay.add(did, `direct.send ${operation}`, untilMs, fromMs);
    } catch (thrown) {
      if (AgentError.from(thrown).code === "unavailable") return true;
      throw thrown;
    }
  }

  /** Who signed the message, not who carries it. */
  async #checkOrigin(request: HttpRequest, params: ReturnType<typeof readMessagingParams>, senderDid: string): Promise<Origin> {
    const { resolver } = this.#host;
    const { meta, auth, body } = params;
    if (auth === undefined) throw refused("the message has no origin proof", "missing");
    const source = {
      resolver: resolver.forCaller?.(request.connection.remote) ?? resolver,
      now: () => this.#host.now(),
      cancel: request.cancel,
    };
    try {
      const origin = await checkOriginProof({ method: MESSAGING.direct, meta, body }, auth, source);
      if (origin.did !== senderDid) throw new SignatureError("unknown_key", "the origin proof is of another DID than sender_did");
      return origin;
    } catch (thrown) {
      if (thrown instanceof SignatureError) throw refused(thrown.message, thrown.problem);
      throw thrown;
    }
  }

  #keep(key: string, accepted: Accepted): void {
    this.#operations.set(key, accepted);
    const [oldest] = this.#operations.keys();
    if (this.#operations.size > MAX_OPERATIONS && oldest !== undefined) this.#operations.delete(oldest);
  }
}

/** Of a fixed size, however long the names and the content are. */
function hashOf(value: Json): string {
  return Buffer.from(sha256(canonicalJson(value))).toString("base64url");
}

function refused(message: string, problem: string): AgentError {
  return new AgentError("bad_signature", message, { field: "params.auth", detail: { reason: problem } });
}
