import {
  type AgentError,
  type AgentEvent,
  type Envelope,
  isClosing,
  isSealed,
  type Loss,
  type Maybe,
  type Operation,
  textOf,
  type Via,
} from "../../envelope/index.js";
import type { Outcome } from "../../policies/index.js";
import type { WireCapture } from "./body-capture.js";
import type { CaptureContext } from "./capture-context.js";
import { CapturedAnswer, capturedEvent, preview } from "./captured-answer.js";
import type { CapturedMessage } from "./captured-message.js";
import { captureDocument } from "./document.js";
import { Entry, type WireSigners } from "./entry.js";
import type { ExchangeObserver } from "./observed-exchange.js";
import { holdsSecrets } from "./secrets.js";
import type { SpanPosition } from "./spans.js";

export interface CallFacts {
  readonly direction: CapturedMessage["direction"];
  readonly operation: Operation;
  readonly position: SpanPosition;
  readonly agent: string;
  readonly caller: string;
  /** The DID that the caller proved. */
  readonly signer?: Maybe<string>;
  readonly via: Via;
}

/** Captures one call while it runs. Nothing here throws: capture must not break the call. */
export class CapturedCall implements ExchangeObserver {
  readonly #context: CaptureContext;
  readonly #entry: Entry;
  readonly #answer: CapturedAnswer;
  readonly #operation: Operation;
  /** Binary bodies cannot be searched for secrets; the decoded operation and events are searched instead. */
  #isBinary = false;
  readonly position: SpanPosition;

  constructor(context: CaptureContext, { direction, operation, position, agent, caller, signer, via }: CallFacts) {
    const { traceId, span, parentSpan } = position;
    const envelope = envelopeOf(operation);
    this.#context = context;
    this.#operation = operation;
    this.#answer = new CapturedAnswer(context.limits.bodyBytes);
    this.position = position;
    this.#entry = new Entry(
      {
        id: context.newId(),
        direction,
        at: context.now(),
        traceId,
        span,
        parentSpan,
        agent,
        caller,
        via,
        operation: operation.kind,
        messageId: envelope?.id,
        text: preview(textOf(envelope?.content ?? [])),
      },
      context.limits,
      signer,
    );
    this.#entry.taskId = taskOf(operation);
    this.#entry.sessionId = sessionOf(operation);
    if (isSealedMessage(envelope)) this.#entry.markSealed("request");
    ignoreErrors(() => this.#entry.setEnvelope(envelope && captureDocument(envelope, context.limits.bodyBytes)));
    context.log.add(this.#entry);
  }

  /** A call may make several requests; the first one with a body is kept, or else the first. */
  wantsRequest(bytes: number): boolean {
    return !this.#entry.hasRequest || (this.#entry.requestBytes === 0 && bytes > 0);
  }

  /** Called before the request is sent. */
  signedBy(signers: WireSigners): void {
    this.#entry.setSigners(signers);
  }

  requestSent(request: WireCapture): void {
    this.#isBinary = request.isBinary;
    this.#entry.setRequest(request);
    if (request.isBinary && (holdsPushSecrets(this.#operation) || holdsSecrets(this.#operation))) this.#entry.markSensitive();
    this.bodyProgressed();
  }

  responseStarted(response: WireCapture): void {
    this.#entry.setResponse(response);
    this.bodyProgressed();
  }

  bodyProgressed(): void {
    this.#context.log.changed(this.#entry);
  }

  event(event: AgentEvent): void {
    ignoreErrors(() => {
      this.#answer.add(event);
      if (event.kind === "message" && isSealedMessage(event.message)) this.#entry.markSealed("response");
      this.#entry.addEvent(capturedEvent(event, this.#context.now()));
      this.#entry.taskId ??= this.#answer.taskId;
      this.#entry.sessionId ??= this.#answer.sessionId;
      if (this.#isBinary && holdsSecrets(event)) this.#entry.markSensitive();
      this.bodyProgressed();
    });
  }

  addLoss(loss: Loss): void {
    if (this.#entry.addLoss(loss)) this.bodyProgressed();
  }

  end(outcome: Outcome): void {
    const at = this.#context.now();
    this.#entry.endedAt = at;
    this.#entry.status = statusOf(outcome);
    if (outcome.kind === "failed") this.#entry.error = errorIn(outcome.error);
    ignoreErrors(() => {
      const question = envelopeOf(this.#operation);
      const message = question && this.#answer.message(question, at);
      this.#entry.setAnswer(message && captureDocument(message, this.#context.limits.bodyBytes));
    });
    this.bodyProgressed();
  }
}

export function envelopeOf(operation: Operation): Maybe<Envelope> {
  return operation.kind === "send" ? operation.envelope : undefined;
}

/** Whether nobody but its ends can read a message. */
function isSealedMessage(envelope: Maybe<Envelope>): boolean {
  return envelope !== undefined && envelope.content.length > 0 && envelope.content.every(isSealed);
}

/** Skips what cannot be captured, such as content that is not JSON; the call reports its own errors. */
export function ignoreErrors(run: () => void): void {
  try {
    run();
  } catch {
    // Capture failed; the call continues.
  }
}

/** A reader that stops after the closing event has received the whole stream. */
function statusOf(outcome: Outcome): CapturedMessage["status"] {
  if (outcome.kind === "failed") return "failed";
  const complete = outcome.kind === "ended" || (outcome.last !== undefined && isClosing(outcome.last));
  return complete ? "ok" : "stopped";
}

function errorIn({ code, face, message }: AgentError): NonNullable<CapturedMessage["error"]> {
  return { code, face, message: preview(message) };
}

function taskOf(operation: Operation): Maybe<string> {
  if (operation.kind === "send") return operation.envelope.context.taskId;
  if (operation.kind === "push.set") return operation.config.taskId;
  return "taskId" in operation ? operation.taskId : undefined;
}

function sessionOf(operation: Operation): Maybe<string> {
  if (operation.kind === "send") return operation.envelope.context.sessionId;
  if (operation.kind === "session.close") return operation.sessionId;
  return operation.kind === "task.list" ? operation.contextId : undefined;
}

/** These requests or their answers contain the webhook's token. */
function holdsPushSecrets(operation: Operation): boolean {
  return operation.kind.startsWith("push.") || (operation.kind === "send" && operation.push !== undefined);
}
