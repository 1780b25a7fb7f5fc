import {
  type AgentError,
  type AgentEvent,
  type Envelope,
  isClosing,
  type Loss,
  type Maybe,
  type Operation,
  textOf,
  type Via,
} from "../../envelope/index.js";
import type { Outcome } from "../../policies/index.js";
import type { BodyCapture } from "./body-capture.js";
import type { CaptureContext } from "./capture-context.js";
import { CapturedAnswer, capturedEvent, shown } from "./captured-answer.js";
import type { CapturedMessage } from "./captured-message.js";
import { keptDocument } from "./document.js";
import { Entry } from "./entry.js";
import type { ExchangeObserver } from "./observed-exchange.js";
import { holdsSecrets } from "./secrets.js";
import type { SpanPosition } from "./spans.js";

export interface CallFacts {
  readonly direction: CapturedMessage["direction"];
  readonly operation: Operation;
  readonly place: SpanPosition;
  readonly agent: string;
  readonly caller: string;
  readonly via: Via;
}

/** One call while it is under way. Nothing here throws: whoever looks must not be what breaks. */
export class CapturedCall implements ExchangeObserver {
  readonly #desk: CaptureContext;
  readonly #entry: Entry;
  readonly #answer: CapturedAnswer;
  readonly #operation: Operation;
  /** Nobody here reads its bytes, so that secrets in them are only known from what was read out of them. */
  #isBinary = false;
  readonly place: SpanPosition;

  constructor(desk: CaptureContext, { direction, operation, place, agent, caller, via }: CallFacts) {
    const { traceId, span, parentSpan } = place;
    const envelope = envelopeOf(operation);
    this.#desk = desk;
    this.#operation = operation;
    this.#answer = new CapturedAnswer(desk.limits.bodyBytes);
    this.place = place;
    this.#entry = new Entry(
      {
        id: desk.newId(),
        direction,
        at: desk.now(),
        traceId,
        span,
        parentSpan,
        agent,
        caller,
        via,
        operation: operation.kind,
        messageId: envelope?.id,
        text: shown(textOf(envelope?.content ?? [])),
      },
      desk.limits,
    );
    this.#entry.taskId = taskOf(operation);
    this.#entry.sessionId = sessionOf(operation);
    quietly(() => this.#entry.said(envelope && keptDocument(envelope, desk.limits.bodyBytes)));
    desk.log.add(this.#entry);
  }

  /** Of several requests of one call the one with the message is kept: a body, or else the first. */
  wantsRequest(body: Uint8Array): boolean {
    return !this.#entry.hasRequest || (this.#entry.requestBytes === 0 && body.length > 0);
  }

  sent(request: BodyCapture): void {
    this.#isBinary = request.isBinary;
    this.#entry.sent(request);
    if (request.isBinary && (holdsPushSecrets(this.#operation) || holdsSecrets(this.#operation))) this.#entry.beSecretive();
    this.grew();
  }

  answered(response: BodyCapture): void {
    this.#entry.answered(response);
    this.grew();
  }

  grew(): void {
    this.#desk.log.changed(this.#entry);
  }

  event(event: AgentEvent): void {
    quietly(() => {
      this.#answer.see(event);
      this.#entry.happened(capturedEvent(event, this.#desk.now()));
      this.#entry.taskId ??= this.#answer.taskId;
      this.#entry.sessionId ??= this.#answer.sessionId;
      if (this.#isBinary && holdsSecrets(event)) this.#entry.beSecretive();
      this.grew();
    });
  }

  lost(loss: Loss): void {
    if (this.#entry.lost(loss)) this.grew();
  }

  end(outcome: Outcome): void {
    const at = this.#desk.now();
    this.#entry.endedAt = at;
    this.#entry.status = statusOf(outcome);
    if (outcome.kind === "failed") this.#entry.error = errorIn(outcome.error);
    quietly(() => {
      const question = envelopeOf(this.#operation);
      const message = question && this.#answer.message(question, at);
      this.#entry.replied(message && keptDocument(message, this.#desk.limits.bodyBytes));
    });
    this.grew();
  }
}

export function envelopeOf(operation: Operation): Maybe<Envelope> {
  return operation.kind === "send" ? operation.envelope : undefined;
}

/** What cannot be shown, such as content that is no JSON, is not shown; the call has its own way to say so. */
export function quietly(run: () => void): void {
  try {
    run();
  } catch {
    // The call goes on.
  }
}

/** Whoever leaves a stream behind its closing event has had all of it. */
function statusOf(outcome: Outcome): CapturedMessage["status"] {
  if (outcome.kind === "failed") return "failed";
  const whole = outcome.kind === "ended" || (outcome.last !== undefined && isClosing(outcome.last));
  return whole ? "ok" : "stopped";
}

function errorIn({ code, message }: AgentError): NonNullable<CapturedMessage["error"]> {
  return { code, message: shown(message) };
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

/** The token of a webhook stands in such a request, or in its answer. */
function holdsPushSecrets(operation: Operation): boolean {
  return operation.kind.startsWith("push.") || (operation.kind === "send" && operation.push !== undefined);
}
