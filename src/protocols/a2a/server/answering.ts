import {
  AgentError,
  type Card,
  type Cursor,
  type Head,
  type LossSink,
  type Maybe,
  type Operation,
  ownerOf,
  type Principal,
  parseTraceparent,
  type Reply,
  type Via,
} from "../../../envelope/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import { blame } from "../../../transport/fields.js";
import type { Host } from "../../protocol.js";
import { withoutDelivery } from "../codec/push-delivery.js";
import type { DecodeFacts, Dialect } from "../dialect.js";
import { PUSH_DELIVERY_URI } from "../koine-extensions.js";
import type { OperationName } from "../operations.js";
import { callParameters, isActive } from "./extensions.js";

/** One request after its binding decoded the operation and the agent. */
export interface DecodedRequest {
  readonly request: HttpRequest;
  readonly dialect: Dialect;
  readonly via: Via;
  readonly card: Card;
  readonly caller: Principal;
  readonly name: OperationName;
  readonly params: unknown;
  /** From the path, which has precedence over the params. */
  readonly tenant: Maybe<string>;
  /** The deadline of the caller on the host's clock, if its binding carries one. */
  readonly deadline?: Maybe<number>;
}

/** The steps common to all bindings, between decoding and encoding, with one order of checks. */
export interface Answering {
  readonly operation: Operation;
  readonly parameters: Head;
  readonly reply: Reply;
  /** Reports what the wire cannot carry. */
  readonly reportLoss: LossSink;
  readonly request: HttpRequest;
  /** The requested agent of the host. */
  readonly agent: string;
}

export function answer(host: Host, decodedRequest: DecodedRequest): Answering {
  const { request, via, card } = decodedRequest;
  const tenant = decodedRequest.tenant ?? tenantIn(decodedRequest);
  const caller = tenant === undefined ? decodedRequest.caller : inTenant(decodedRequest.caller, tenant, host.limits);
  const parameters = callParameters(request, card, tenant);
  const call = host.begin(request, { caller, agent: card.name, via, parameters, deadline: decodedRequest.deadline });
  const reportLoss: LossSink = (loss) => call.reportLoss(loss);
  const decoded = decode(decodedRequest, factsOf(host, decodedRequest, reportLoss));
  const operation = withHeaders(decoded, request);
  const reply = host.handler(operation, call);
  // The delivery state is for callers that request the extension; for others it would be an unknown member.
  const shown = isPushRead(operation) && !isActive(parameters, PUSH_DELIVERY_URI) ? withoutDelivery(reply) : reply;
  return { operation, parameters, reply: shown, reportLoss, request, agent: card.name };
}

function isPushRead({ kind }: Operation): boolean {
  return kind === "push.get" || kind === "push.list";
}

/** Validates the params. */
export function checkParams(host: Host, decodedRequest: DecodedRequest): void {
  decode(decodedRequest, factsOf(host, decodedRequest, ignoreLoss));
}

const ignoreLoss: LossSink = () => undefined;

/** The tenant changes the owner of a task, not the caller. */
function factsOf(host: Host, { caller, card }: DecodedRequest, reportLoss: LossSink): DecodeFacts {
  return {
    now: host.now(),
    src: caller.id,
    dst: card.name,
    partsPerMessage: host.limits.partsPerMessage,
    reportLoss,
  };
}

/**
 * Tasks are isolated by tenant: the tenant is part of the owner. A caller names tenants that were granted to it; one without a name of
 * its own may name any, because it gains nothing by that.
 */
function inTenant(caller: Principal, tenant: string, { idChars }: Host["limits"]): Principal {
  if (tenant.length > idChars)
    throw new AgentError("too_large", `tenant has more than ${idChars} characters`, { field: "tenant" });
  if (caller.tenant === tenant) return caller;
  if (caller.tenant !== undefined) throw new AgentError("forbidden", "the caller belongs to another tenant", { field: "tenant" });
  if (caller.scheme !== "anonymous" && caller.scheme !== "self" && caller.tenants?.includes(tenant) !== true)
    throw new AgentError("forbidden", "this tenant was not granted to the caller", { field: "tenant" });
  return { ...caller, tenant, owner: ownerOf(caller.scheme, caller.id, tenant) };
}

function tenantIn({ dialect, params }: DecodedRequest): Maybe<string> {
  try {
    return dialect.tenantOf(params);
  } catch (thrown) {
    throw blame(thrown, "invalid_message");
  }
}

function decode({ dialect, name, params }: DecodedRequest, facts: DecodeFacts): Operation {
  try {
    return dialect.decodeRequest(name, params, facts);
  } catch (thrown) {
    throw blame(thrown, "invalid_message");
  }
}

/** Values from HTTP headers: the stream cursor, the idempotency key and the trace. */
function withHeaders(operation: Operation, request: HttpRequest): Operation {
  const { headers } = request;
  // The cursor is opaque here; the task runtime validates it.
  const after = headers["last-event-id"] as Cursor | "" | undefined;
  if (operation.kind === "task.subscribe") return after === undefined || after === "" ? operation : { ...operation, after };
  if (operation.kind !== "send") return operation;
  // A repeated request for an interrupted stream resumes it; the message is not sent again.
  if (operation.delivery === "stream" && after !== undefined && after !== "") return { ...operation, after };
  const { envelope } = operation;
  const { context } = envelope;
  const key = headers["idempotency-key"];
  if (key !== undefined && context.idempotencyKey !== undefined && context.idempotencyKey !== key) {
    throw new AgentError("invalid_message", "the Idempotency-Key header and the message's own key differ", {
      field: "Idempotency-Key",
    });
  }
  const trace = context.traceId === undefined ? parseTraceparent(headers["traceparent"]) : undefined;
  if (key === undefined && trace === undefined) return operation;
  const completed = { ...context, idempotencyKey: key ?? context.idempotencyKey, traceId: trace?.traceId ?? context.traceId };
  return { ...operation, envelope: { ...envelope, context: completed } };
}
