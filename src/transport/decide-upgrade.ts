import { AgentError } from "../envelope/index.js";
import type { HttpResponse, Intake, RequestHead, Upgraded } from "./exchange.js";
import { isRefusal } from "./intake.js";
import type { Limits } from "./limits.js";
import { refuseFailed } from "./refusal.js";
import { errorResponse } from "./response.js";
import { offeredSubprotocols } from "./upgrade-request.js";

/** One upgrade request and what follows from the decision about it. */
export interface UpgradeQuestion {
  readonly intake: Intake;
  readonly head: RequestHead;
  readonly limits: Limits;
  /** Stops a decision that nobody waits for any more. */
  cancel(reason: AgentError): void;
  /** Called once, unless the question was withdrawn. A response refuses. */
  decided(answer: Upgraded | HttpResponse): void;
  onError(thrown: unknown): void;
}

/**
 * Asks the server whether it accepts an upgrade, for at most `headersMs`: Node's own limits end with the head. Returns the function that
 * withdraws the question. An acceptance that comes too late is abandoned.
 */
export function decideUpgrade(question: UpgradeQuestion): (reason: AgentError) => void {
  const { intake, head, limits, onError } = question;
  let open = true;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function settle(answer: Upgraded | HttpResponse): void {
    if (!open) {
      if (!isRefusal(answer)) abandon(answer, onError);
      return;
    }
    open = false;
    clearTimeout(timer);
    question.decided(isRefusal(answer) ? answer : checked(answer, head, onError));
  }

  function failed(thrown: unknown): void {
    onError(thrown);
    settle(refuseFailed());
  }

  function withdraw(reason: AgentError): void {
    if (!open) return;
    open = false;
    clearTimeout(timer);
    question.cancel(reason);
  }

  try {
    const answer = intake.upgrade?.(head) ?? refuseWebSocket(head);
    if (answer instanceof Promise) {
      answer.then(settle, failed);
      timer = setTimeout(() => {
        const late = new AgentError("overloaded", "the session was not admitted in time; try again later", {
          retryAfterMs: 1_000,
        });
        withdraw(late);
        question.decided(errorResponse(503, late));
      }, limits.headersMs);
    } else settle(answer);
  } catch (thrown) {
    failed(thrown);
  }
  return withdraw;
}

/** The peer disconnected before its session began, or the session could not begin. */
export function abandon(upgraded: Upgraded, onError: (thrown: unknown) => void): void {
  try {
    upgraded.abandon();
  } catch (thrown) {
    onError(thrown);
  }
}

/** The refusal of a server without sessions, and of paths without one. */
export function refuseWebSocket({ path }: RequestHead): HttpResponse {
  return errorResponse(404, new AgentError("not_found", `there is no WebSocket endpoint at ${path}`));
}

/** A server may only select what the client offered (RFC 6455 §4.2.2). */
function checked(upgraded: Upgraded, { headers }: RequestHead, onError: (thrown: unknown) => void): Upgraded | HttpResponse {
  const { subprotocol } = upgraded;
  if (subprotocol === undefined || offeredSubprotocols(headers)?.includes(subprotocol) === true) return upgraded;
  onError(new AgentError("internal", `subprotocol ${JSON.stringify(subprotocol)} was selected, but the client did not offer it`));
  abandon(upgraded, onError);
  return refuseFailed();
}
