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
import type { OperationName } from "../operations.js";
import { PUSH_DELIVERY_URI } from "../own-extensions.js";
import { callParameters, isActive } from "./extensions.js";

/** One request, after its binding found out what is asked and of whom. */
export interface Asked {
  readonly request: HttpRequest;
  readonly dialect: Dialect;
  readonly via: Via;
  readonly card: Card;
  readonly caller: Principal;
  readonly name: OperationName;
  readonly params: unknown;
  /** From the path, which wins over the params. */
  readonly tenant: Maybe<string>;
  /** The deadline of the caller on the host's clock, if its binding carries one. */
  readonly deadline?: Maybe<number>;
}

/** What every binding does between its own parsing and its own writing: one behaviour, one order of checks. */
export interface Answering {
  readonly operation: Operation;
  readonly parameters: Head;
  readonly reply: Reply;
  /** Reports what the wire cannot carry. */
  readonly lose: LossSink;
  readonly request: HttpRequest;
  /** Which agent of the host was asked. */
  readonly agent: string;
}

export function answer(host: Host, asked: Asked): Answering {
  const { request, via, card } = asked;
  const tenant = asked.tenant ?? tenantIn(asked);
  const caller = tenant === undefined ? asked.caller : inTenant(asked.caller, tenant);
  const parameters = callParameters(request, card, tenant);
  const call = host.begin(request, { caller, agent: card.name, via, parameters, deadline: asked.deadline });
  const lose: LossSink = (loss) => call.reportLoss(loss);
  const decoded = decode(asked, factsOf(host, asked, lose));
  const operation = withHeaders(decoded, request);
  const reply = host.handler(operation, call);
  // The state of delivery is for callers that name its extension: to others it would be an unknown member.
  const shown = isPushRead(operation) && !isActive(parameters, PUSH_DELIVERY_URI) ? withoutDelivery(reply) : reply;
  return { operation, parameters, reply: shown, lose, request, agent: card.name };
}

function isPushRead({ kind }: Operation): boolean {
  return kind === "push.get" || kind === "push.list";
}

/** Throws what is wrong with the params, and does nothing else. */
export function checkParams(host: Host, asked: Asked): void {
  decode(asked, factsOf(host, asked, ignoreLoss));
}

const ignoreLoss: LossSink = () => undefined;

/** The tenant changes the owner of a task, not the caller. */
function factsOf(host: Host, { caller, card }: Asked, lose: LossSink): DecodeFacts {
  return { now: host.now(), src: caller.id, dst: card.name, partsPerMessage: host.limits.partsPerMessage, lose };
}

/** Tasks are isolated by tenant: the tenant is part of the owner. A caller of one tenant cannot name another. */
function inTenant(caller: Principal, tenant: string): Principal {
  if (caller.tenant === tenant) return caller;
  if (caller.tenant !== undefined) throw new AgentError("forbidden", "the caller belongs to another tenant", { field: "tenant" });
  return { ...caller, tenant, owner: ownerOf(caller.scheme, caller.id, tenant) };
}

function tenantIn({ dialect, params }: Asked): Maybe<string> {
  try {
    return dialect.tenantOf(params);
  } catch (thrown) {
    throw blame(thrown, "invalid_message");
  }
}

function decode({ dialect, name, params }: Asked, facts: DecodeFacts): Operation {
  try {
    return dialect.decodeRequest(name, params, facts);
  } catch (thrown) {
    throw blame(thrown, "invalid_message");
  }
}

/** Values from HTTP headers: the stream cursor, the idempotency key and the trace. */
function withHeaders(operation: Operation, request: HttpRequest): Operation {
  const { headers } = request;
  // A cursor is opaque here: its maker, the task runtime, checks it.
  const after = headers["last-event-id"] as Cursor | "" | undefined;
  if (operation.kind === "task.subscribe") return after === undefined || after === "" ? operation : { ...operation, after };
  if (operation.kind !== "send") return operation;
  // A stream that was lost and is asked for again: taken up, not sent a second time.
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
  const told = { ...context, idempotencyKey: key ?? context.idempotencyKey, traceId: trace?.traceId ?? context.traceId };
  return { ...operation, envelope: { ...envelope, context: told } };
}
