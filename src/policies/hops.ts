import { AgentError, type Call, type Envelope, type Layer, type Loss, type Maybe, type Metadata } from "../envelope/index.js";

/** The message member for the number of gateways passed, in addition to the header: some intermediaries strip headers. */
export const HOPS_KEY = "koine_hops";

/** The message with its hop count. */
export function withHops(envelope: Envelope, hops: number): Envelope {
  return { ...envelope, extra: extraWithHops(envelope.extra, hops) };
}

export function extraWithHops(extra: Maybe<Metadata>, hops: number): Metadata {
  return extra === undefined ? { [HOPS_KEY]: hops } : { ...extra, [HOPS_KEY]: hops };
}

/** True if only our own hop count was lost, nothing of the caller's. */
export function isOwnMark({ path }: Loss, extra: Maybe<Metadata>): boolean {
  return extra === undefined && path === "message.extra";
}

/** Rejects messages that passed too many gateways (a loop). The hop count is not passed on to agents. */
export function refuseLoops(most: number): Layer {
  return (next) => (operation, call) => {
    const declared = operation.kind === "send" ? hopsIn(operation.envelope) : undefined;
    const hops = Math.max(call.hops, declared ?? 0);
    if (hops > most)
      return Promise.reject(new AgentError("loop", `the message has passed ${hops} gateways; at most ${most} are allowed`));
    if (operation.kind !== "send" || declared === undefined) return next(operation, call);
    return next({ ...operation, envelope: withoutHops(operation.envelope) }, counted(call, hops));
  };
}

function counted(call: Call, hops: number): Call {
  return hops === call.hops ? call : call.derive({ hops });
}

function hopsIn({ extra }: Envelope): Maybe<number> {
  const hops = extra?.[HOPS_KEY];
  return typeof hops === "number" && Number.isSafeInteger(hops) && hops >= 0 ? hops : undefined;
}

/** The message without the mark of gateways. */
export function withoutHops(envelope: Envelope): Envelope {
  if (envelope.extra?.[HOPS_KEY] === undefined) return envelope;
  const rest = Object.entries(envelope.extra ?? {}).filter(([name]) => name !== HOPS_KEY);
  const extra: Maybe<Metadata> = rest.length === 0 ? undefined : Object.fromEntries(rest);
  return { ...envelope, extra };
}
