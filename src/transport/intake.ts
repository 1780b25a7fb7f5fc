import type { Maybe } from "../envelope/index.js";
import { type BodyLimit, bodyLimitOf } from "./body-limit.js";
import { assignWhenAdmitted, bufferedBytesOf } from "./buffered-bytes.js";
import type { Exchange, HttpResponse, Intake, Session, Taken, Upgraded } from "./exchange.js";
import type { Limits } from "./limits.js";
import { bodyTooLarge, refuseTooLarge } from "./refusal.js";
import type { ServerRequest } from "./server-request.js";
import { respondUnread } from "./unread.js";

/** An exchange by itself takes every request and every body within the limit. */
export function intakeOf(server: Exchange | Intake, limits: Limits): Intake {
  if (typeof server !== "function") return server;
  const takenWithin = (limit: BodyLimit): Taken => ({ bodyBytes: limits[limit], limit, unadmitted: false, exchange: server });
  const taken = { bodyBytes: takenWithin("bodyBytes"), jsonBytes: takenWithin("jsonBytes") };
  return { take: (request) => taken[bodyLimitOf(request, limits)] };
}

export function isRefusal(taken: Taken | Upgraded | HttpResponse): taken is HttpResponse {
  return "status" in taken;
}

/** Runs an accepted session and closes it when its protocol is done. */
export function runSession(upgraded: Upgraded, session: Session, onError: (thrown: unknown) => void): void {
  const failed = (thrown: unknown): void => {
    onError(thrown);
    session.close(1011, "the server failed");
  };
  try {
    upgraded.accept(session).then(() => session.close(1000, ""), failed);
  } catch (thrown) {
    failed(thrown);
  }
}

/** The response for a body above the limit, in the format of the addressed protocol. */
export function respondTooLarge(request: ServerRequest, { exchange, bodyBytes, limit }: Taken): Promise<HttpResponse> {
  const problem = bodyTooLarge(bodyBytes, limit);
  return respondUnread(exchange, request, problem, refuseTooLarge(problem));
}

/** Answers one request, for transports that have no socket. `readBody` returns undefined for a body above the limit. */
export async function answerRequest(
  intake: Intake,
  request: ServerRequest,
  limits: Limits,
  readBody: (maxBytes: number) => Maybe<Uint8Array> | Promise<Maybe<Uint8Array>>,
): Promise<HttpResponse> {
  const taken = await intake.take(request);
  if (isRefusal(taken)) return taken;
  const body = await readBody(taken.bodyBytes);
  if (body === undefined) return respondTooLarge(request, taken);
  const held = bufferedBytesOf(limits, request, taken.unadmitted);
  if (!held.add(body.length)) return respondUnread(taken.exchange, request, held.problem(), held.refusal());
  try {
    const answer = taken.exchange(request.receiveBody(body));
    assignWhenAdmitted(held, request);
    return await answer;
  } finally {
    held.release();
  }
}
