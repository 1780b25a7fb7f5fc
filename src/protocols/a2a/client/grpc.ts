import { AgentError, type JsonObject, type Maybe, type ReadyIterator, TAKE_READY } from "../../../envelope/index.js";
import { bytesOf } from "../../../transport/body.js";
import { type Chunk, type HttpHeaders, type HttpRequest, type HttpResponse, isStream } from "../../../transport/exchange.js";
import { blame } from "../../../transport/fields.js";
import { badPeer, refuseRedirect } from "../../../transport/peer-answer.js";
import type { StreamItem } from "../../../transport/peer-events.js";
import { makeRequest } from "../../../transport/request.js";
import { taskName } from "../codec/push-0.3.js";
import { errorFromGrpc, errorFromRest } from "../errors.js";
import { decodeMessage } from "../grpc/decode.js";
import { encodeFrame, FrameReader } from "../grpc/framing.js";
import { type Method, methodOf } from "../grpc/methods.js";
import { takeCursor } from "../grpc/resume.js";
import { endedWithoutStatus, readStatus, statusOfHttp } from "../grpc/status.js";
import { writeTimeout } from "../grpc/timeout.js";
import { type ClientBinding, callHeaders, type Outgoing } from "./binding.js";

export const grpcBinding: ClientBinding = {
  name: "GRPC",

  write(outgoing: Outgoing): HttpRequest {
    const method = methodFor(outgoing);
    const body = encodeFrame(method.request, paramsOf(outgoing));
    const url = `${outgoing.peer.url}${method.path}`;
    return makeRequest({ method: "POST", url, headers: headersOf(outgoing), body, call: outgoing.call });
  },

  async readResult(response: HttpResponse, outgoing: Outgoing): Promise<unknown> {
    const messages = new GrpcMessages(response, outgoing, outgoing.limits.bodyBytes);
    const first = await messages.next();
    if (first.done === true) throw badPeer(response, "the call succeeded without a response message");
    const second = await messages.next();
    if (second.done === true) return first.value;
    await messages.return();
    throw badPeer(response, "the response has more than one message");
  },

  readItem: (data) => data,

  readItems: (response, outgoing) => new GrpcItems(new GrpcMessages(response, outgoing, outgoing.limits.sseEventBytes)),
};

function methodFor({ peer, name }: Outgoing): Method {
  const method = methodOf(peer.version === "0.3" ? "0.3" : "1.0", name);
  if (method === undefined)
    throw new AgentError("unsupported_method", `A2A ${peer.version} has no ${name} over gRPC`, { sent: "no" });
  return method;
}

/** 0.3 gRPC identifies a task by its resource name. */
function paramsOf({ peer, params, name, call }: Outgoing): JsonObject {
  if (peer.version !== "0.3") return params;
  if (name === "CancelTask" && params["metadata"] !== undefined)
    call.reportLoss({
      protocol: "a2a",
      path: "operation.metadata",
      valueKind: "object",
      reason: "0.3 gRPC has no metadata on a cancel",
    });
  const { id } = params;
  return typeof id === "string" && params["name"] === undefined ? { ...params, name: taskName(id) } : params;
}

function headersOf(outgoing: Outgoing): Record<string, string> {
  const { operation, timeoutMs } = outgoing;
  const headers = callHeaders(outgoing);
  headers["content-type"] = "application/grpc+proto";
  headers["te"] = "trailers";
  headers["grpc-accept-encoding"] = "identity";
  if (timeoutMs !== undefined) headers["grpc-timeout"] = writeTimeout(timeoutMs);
  if (operation.kind === "task.list" && operation.idempotencyKey !== undefined)
    headers["idempotency-key"] = operation.idempotencyKey;
  return headers;
}

const NO_TRAILERS: HttpHeaders = Object.freeze({});

/** Decodes the messages of a response, and checks the status at its end. */
class GrpcMessages implements ReadyIterator<JsonObject> {
  readonly #response: HttpResponse;
  readonly #outgoing: Outgoing;
  readonly #chunks: ReadyIterator<Chunk>;
  readonly #reader: FrameReader;
  readonly #waiting: Uint8Array[] = [];
  readonly #take = (message: Uint8Array): void => void this.#waiting.push(message);
  #checked = false;

  constructor(response: HttpResponse, outgoing: Outgoing, maxBytes: number) {
    this.#response = response;
    this.#outgoing = outgoing;
    this.#chunks = isStream(response.body) ? response.body[Symbol.asyncIterator]() : whole(response.body);
    this.#reader = new FrameReader(maxBytes);
  }

  async next(): Promise<IteratorResult<JsonObject, void>> {
    try {
      if (!this.#checked) this.#check();
      for (;;) {
        const message = this.#waiting.shift();
        if (message !== undefined) return { done: false, value: this.#decode(message) };
        const step = await this.#chunks.next();
        if (step.done === true) break;
        this.#reader.push(bytesOf(step.value), this.#take);
      }
    } catch (thrown) {
      await this.return();
      throw thrown;
    }
    this.#conclude();
    return { done: true, value: undefined };
  }

  /** The messages that have arrived with the one before. */
  [TAKE_READY](): JsonObject | undefined {
    // The head is checked by the first `next`.
    if (!this.#checked) return undefined;
    try {
      for (;;) {
        const message = this.#waiting.shift();
        if (message !== undefined) return this.#decode(message);
        const chunk = this.#chunks[TAKE_READY]?.();
        if (chunk === undefined) return undefined;
        this.#reader.push(bytesOf(chunk), this.#take);
      }
    } catch (thrown) {
      this.return().catch(() => undefined); // the reader gets the first error
      throw thrown;
    }
  }

  async return(): Promise<IteratorResult<JsonObject, void>> {
    await this.#chunks.return?.();
    return { done: true, value: undefined };
  }

  /** The response may come from a proxy or from a server without gRPC. */
  #check(): void {
    this.#checked = true;
    const response = this.#response;
    const { status, headers } = response;
    if (status === 200 && headers["content-type"]?.startsWith("application/grpc") === true) return;
    refuseRedirect(response);
    this.#refuse(headers);
    if (status === 200) throw badPeer(response, `the answer is not gRPC (${headers["content-type"] ?? "no content type"})`);
    const named = statusOfHttp(status);
    if (named === undefined) throw errorFromRest(status, undefined, headers);
    const message = `expected a gRPC response, got HTTP ${status}`;
    throw errorFromGrpc({ status: named, message, details: [] }, this.#outgoing.name, headers);
  }

  /** Throws the error of a status other than OK. Returns false if there is no status. */
  #refuse(headers: { readonly [name: string]: Maybe<string> }): boolean {
    const callStatus = readStatus(headers);
    if (callStatus !== undefined && callStatus.status !== "OK") throw errorFromGrpc(callStatus, this.#outgoing.name, headers);
    return callStatus !== undefined;
  }

  #conclude(): void {
    const { headers, trailers } = this.#response;
    if (!this.#refuse(trailers?.call(this.#response) ?? NO_TRAILERS) && !this.#refuse(headers)) throw endedWithoutStatus();
    if (this.#reader.isMidway) throw badPeer(this.#response, "the response ends inside a message");
  }

  #decode(message: Uint8Array): JsonObject {
    try {
      return decodeMessage(methodFor(this.#outgoing).response, message, this.#outgoing.limits);
    } catch (thrown) {
      throw blame(thrown, "bad_peer");
    }
  }
}

async function* whole(body: Maybe<Chunk>): AsyncGenerator<Chunk, void, void> {
  if (body !== undefined && body.length > 0) yield body;
}

/** Adds the cursor of each item. */
class GrpcItems implements ReadyIterator<StreamItem> {
  readonly #messages: GrpcMessages;

  constructor(messages: GrpcMessages) {
    this.#messages = messages;
  }

  next(): Promise<IteratorResult<StreamItem, void>> {
    return this.#messages.next().then(itemOf);
  }

  [TAKE_READY](): StreamItem | undefined {
    const message = this.#messages[TAKE_READY]();
    return message && takeCursor(message);
  }

  async return(): Promise<IteratorResult<StreamItem, void>> {
    await this.#messages.return();
    return { done: true, value: undefined };
  }
}

function itemOf(step: IteratorResult<JsonObject, void>): IteratorResult<StreamItem, void> {
  return step.done === true ? step : { done: false, value: takeCursor(step.value) };
}
