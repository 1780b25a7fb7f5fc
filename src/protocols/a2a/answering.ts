import {
  AgentError,
  type Card,
  type Head,
  type LossSink,
  type Maybe,
  type Operation,
  type Principal,
  type Reply,
  type Via,
} from "../../envelope/index.js";
import type { Request } from "../../transport/exchange.js";
import { blame } from "../../transport/fields.js";
import type { Host } from "../protocol.js";
import type { DecodeFacts, Dialect } from "./dialect.js";
import { callParameters } from "./extensions.js";
import type { OperationName } from "./operations.js";

/** One request, after its binding found out what is asked and of whom. */
export interface Asked {
  readonly request: Request;
  readonly dialect: Dialect;
  readonly via: Via;
  readonly card: Card;
  readonly caller: Principal;
  readonly name: OperationName;
  readonly params: unknown;
  /** From the path, which wins over the params. */
  readonly tenant: Maybe<string>;
}

/** What every binding does between its own parsing and its own writing: one behaviour, one order of checks. */
export interface Answering {
  readonly operation: Operation;
  readonly parameters: Head;
  readonly reply: Reply;
  /** Where the writer says what the wire cannot carry. */
  readonly lose: LossSink;
}

export function answer(host: Host, asked: Asked): Answering {
  const { request, dialect, via, card, caller } = asked;
  const parameters = callParameters(request, card, asked.tenant ?? dialect.tenantOf(asked.params));
  const call = host.begin(request, { caller, agent: card.name, via, parameters });
  const lose: LossSink = (loss) => call.lose(loss);
  const facts: DecodeFacts = {
    now: host.now(),
    src: caller.id,
    dst: card.name,
    partsPerMessage: host.limits.partsPerMessage,
    lose,
  };
  const decoded = decode(asked, facts);
  const operation = withHeaders(decoded, request);
  return { operation, parameters, reply: host.handler(operation, call), lose };
}

function decode({ dialect, name, params }: Asked, facts: DecodeFacts): Operation {
  try {
    return dialect.decodeRequest(name, params, facts);
  } catch (thrown) {
    throw blame(thrown, "invalid_message");
  }
}

/** Two things HTTP says in headers: where a lost stream is taken up again, and the key of a send. */
function withHeaders(operation: Operation, request: Request): Operation {
  const { headers } = request;
  if (operation.kind === "task.subscribe") {
    const after = headers["last-event-id"];
    // A cursor is opaque here: its maker, the task runtime, checks it.
    return after === undefined || after === ""
      ? operation
      : { ...operation, after: after as NonNullable<typeof operation.after> };
  }
  const key = operation.kind === "send" ? headers["idempotency-key"] : undefined;
  if (operation.kind !== "send" || key === undefined) return operation;
  const { envelope } = operation;
  const told = envelope.context.idempotencyKey;
  if (told !== undefined && told !== key) {
    throw new AgentError("invalid_message", "the Idempotency-Key header and the message's own key differ", {
      field: "Idempotency-Key",
    });
  }
  return { ...operation, envelope: { ...envelope, context: { ...envelope.context, idempotencyKey: key } } };
}
