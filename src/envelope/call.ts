import type { CallerCredential } from "./caller-credential.js";
import { type Cancel, CancelSource, signalOf } from "./cancel.js";
import type { Proof } from "./envelope.js";
import { type Floor, NO_FLOOR, raiseFloor } from "./floor.js";
import type { Call, CallChange, Loss, LossSink, Principal, Via } from "./handler.js";
import { type Head, NO_HEAD } from "./head.js";
import type { Maybe } from "./json.js";

/** The caller of an agent's own in-process calls. */
export const SELF: Principal = Object.freeze({ id: "self", scheme: "self", scopes: [], owner: "self:self" });
export const ANONYMOUS: Principal = Object.freeze({
  id: "anonymous",
  scheme: "anonymous",
  scopes: [],
  owner: "anonymous:anonymous",
});
const IN_PROCESS: Via = Object.freeze({ protocol: "memory", version: "1", binding: "memory" });

export interface CallStart {
  readonly agent?: Maybe<string>;
  readonly caller?: Maybe<Principal>;
  readonly via?: Maybe<Via>;
  readonly parameters?: Maybe<Head>;
  readonly hops?: Maybe<number>;
  readonly floor?: Maybe<Floor>;
  readonly credential?: Maybe<CallerCredential>;
  readonly deadline?: Maybe<number>;
  readonly cancel?: Maybe<Cancel>;
  /** Instead of `cancel`: an object with a lazily created one. */
  readonly request?: Maybe<{ readonly cancel: Cancel }>;
  readonly reportLoss?: Maybe<LossSink>;
}

/** The owner string of a principal: equal only for the same subject, scheme and tenant. */
export function ownerOf(scheme: Principal["scheme"], id: string, tenant?: string): string {
  // The length separates tenant and id whatever characters they contain; no scheme has an `@`.
  return tenant === undefined ? `${scheme}:${id}` : `${scheme}@${tenant.length}:${tenant}:${id}`;
}

/** The owner without its tenant: the subject, which may belong to several tenants. */
export function subjectOf(owner: string): string {
  if (!owner.includes("@")) return owner;
  const [, scheme = "", length = "0", rest = ""] = /^([a-z]+)@(\d+):(.*)$/s.exec(owner) ?? [];
  return scheme === "" ? owner : `${scheme}:${rest.slice(Number(length) + 1)}`;
}

/** Creates the context of a call: who calls which agent, over which interface, and how it is cancelled. */
export function startCall(start: CallStart = {}): Call {
  return new LazyCall(
    start.agent ?? "",
    start.caller ?? SELF,
    start.via ?? IN_PROCESS,
    start.parameters ?? NO_HEAD,
    start.hops ?? 0,
    start.floor === undefined ? NO_FLOOR : raiseFloor(NO_FLOOR, start.floor),
    start.deadline,
    start.cancel === undefined ? start.request : { cancel: start.cancel },
    start.reportLoss,
    start.credential,
  );
}

/** Cancel and signal are created on first use: most calls never need them. */
class LazyCall implements Call {
  #cancel: Cancel | undefined;
  readonly #request: { readonly cancel: Cancel } | undefined;
  #signal: AbortSignal | undefined;
  readonly #reportLoss: LossSink | undefined;
  readonly #parent: LazyCall | undefined;
  #slots: Slotted | undefined;

  // biome-ignore lint/complexity/useMaxParams: the one constructor of the hot path; an options object would be allocated per request
  constructor(
    readonly agent: string,
    readonly caller: Principal,
    readonly via: Via,
    readonly parameters: Head,
    readonly hops: number,
    readonly floor: Floor,
    readonly deadline: Maybe<number>,
    request: { readonly cancel: Cancel } | undefined,
    reportLoss: LossSink | undefined,
    readonly credential: Maybe<CallerCredential>,
    parent?: LazyCall,
  ) {
    this.#parent = parent;
    this.#request = request;
    this.#reportLoss = reportLoss;
  }

  get cancel(): Cancel {
    this.#cancel ??= this.#request?.cancel ?? new CancelSource();
    return this.#cancel;
  }

  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.cancel);
    return this.#signal;
  }

  reportLoss(loss: Loss): void {
    this.#reportLoss?.(loss);
  }

  derive(change: CallChange): Call {
    return new LazyCall(
      change.agent ?? this.agent,
      change.caller ?? this.caller,
      change.via ?? this.via,
      change.parameters ?? this.parameters,
      change.hops ?? this.hops,
      change.floor === undefined ? this.floor : raiseFloor(this.floor, change.floor),
      earlier(this.deadline, change.deadline),
      change.cancel === undefined ? this : { cancel: change.cancel },
      change.reportLoss ?? this.#reportLoss,
      change.credential ?? this.credential,
      this,
    );
  }

  /** What the first of the calls that this one is derived from was started with. */
  static request(call: LazyCall): Maybe<object> {
    let first = call;
    while (first.#parent !== undefined) first = first.#parent;
    return first.#request;
  }

  static put(call: LazyCall, slot: object, value: unknown): void {
    call.#slots = { slot, value, next: call.#slots };
  }

  static find(call: LazyCall, slot: object): Maybe<Slotted> {
    for (let each: LazyCall | undefined = call; each !== undefined; each = each.#parent)
      for (let entry = each.#slots; entry !== undefined; entry = entry.next) if (entry.slot === slot) return entry;
    return undefined;
  }
}

/** The `request` with which a call was started, or the one that it is derived from. */
export function requestOf(call: Call): Maybe<object> {
  return call instanceof LazyCall ? LazyCall.request(call) : undefined;
}

interface Slotted {
  readonly slot: object;
  readonly value: unknown;
  readonly next: Slotted | undefined;
}

/** State that an observer keeps on a call: put on one call, found from every call derived from it. One slot per observer. */
export class CallSlot<T> {
  put(call: Call, value: T): void {
    if (call instanceof LazyCall) LazyCall.put(call, this, value);
  }

  of(call: Maybe<Call>): Maybe<T> {
    return call instanceof LazyCall ? (LazyCall.find(call, this)?.value as Maybe<T>) : undefined;
  }
}

/** On calls that only check a connection: they are no traffic of the user. */
export const healthChecks = new CallSlot<true>();

/** The parameter of discovery and health checks. Protocols send it on, so that the peer does not count them either. */
export const PROBE_PARAMETER = "probe";

/** The call as one of discovery: marked for the peer. */
export function asProbe(call: Call): Call {
  return call.derive({ parameters: { ...call.parameters, [PROBE_PARAMETER]: "1" } });
}

/** A received call that its sender marked as a check of the connection. */
export interface Probe {
  /** It does something all the same, so it counts as a call. */
  acts: boolean;
}

/** On received calls, and separate from `healthChecks`: what a caller says about itself allows nothing. */
export const receivedProbes = new CallSlot<Probe>();

/** A request about a task that its author proved for the agent which does the work. */
export interface AuthoredRequest {
  /** The id that the agent gave the task. */
  readonly taskId: string;
  readonly proof: Proof;
}

/** On such calls. A gateway passes them on with the proof: at the agent the task belongs to the author, and not to the gateway. */
export const authoredRequests = new CallSlot<AuthoredRequest>();

function earlier(a: Maybe<number>, b: Maybe<number>): Maybe<number> {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}
