import { PUSH_ID_HEADER, pushId } from "../client/push-id.js";
import {
  AgentError,
  cancelFrom,
  type Envelope,
  type Maybe,
  type PushConfig,
  startCall,
  type TaskEvent,
} from "../envelope/index.js";
import type { Front } from "../protocols/front.js";
import { createGuard, type PinnedUrl, pinnedLookup, type Resolve, resolveByDns } from "../security/index.js";
import type { PushNotification, PushOutcome, PushPort } from "../tasks/index.js";
import { outgoingTraceparent } from "../telemetry/traceparent.js";
import { type HttpRequest, type HttpResponse, isStream, type Link } from "../transport/exchange.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { type PoolOptions, poolLink } from "../transport/node/index.js";
import { makeRequest } from "../transport/request.js";

/** How webhooks are told. Times, tries and how many at once are among the task limits. */
export interface PushOptions {
  /** Hosts, `name` or `name:port`, that are told whatever their address. Default: none, so only public addresses are. */
  readonly allow?: readonly string[];
  /** Whom to trust beside the platform's own authorities. Certificates are always checked. */
  readonly tls?: PoolOptions["tls"];
  /** Default: the system's own resolution. */
  readonly resolve?: Resolve;
}

export interface PushSender extends PushPort {
  close(): Promise<void>;
}

export interface PushSenderStart extends PushOptions {
  /** Known only when the protocols are served, which is after the sender was made. */
  notify(): Front["notify"];
  /** Webhooks told at once. */
  readonly atOnce: number;
}

const NO_NOTICES = "no protocol of this host sends push notifications";
/** Nobody reads what a webhook answers beside its status. */
const ANSWER_BYTES = 64 * 1024;
/** Hosts with open connections, for each webhook that may be told at once: so none is closed while it is in use. */
const HOSTS_PER_WEBHOOK = 2;

/**
 * Tells webhooks over HTTP. Whoever registers one chooses where our requests go, so every address is checked before every
 * request, resolved once, and dialled at the addresses that were checked; redirects are never followed.
 */
export function createPushSender(start: PushSenderStart): PushSender {
  const guard = createGuard({ from: "public", allow: start.allow, resolve: start.resolve ?? resolveByDns });
  const links = new PinnedLinks(start.atOnce * HOSTS_PER_WEBHOOK, start.tls);

  async function allows({ url }: PushConfig): Promise<void> {
    if (start.notify() === undefined) throw new AgentError("push_unsupported", NO_NOTICES);
    try {
      await guard(url);
    } catch (thrown) {
      // A name that is not known now may be known when there is something to tell.
      if (AgentError.from(thrown).code !== "forbidden") return;
      throw new AgentError("invalid_message", `url: ${guardProblem(thrown)}`, { field: "url", cause: thrown });
    }
  }

  async function send(telling: PushNotification, signal: AbortSignal): Promise<PushOutcome> {
    const { config, event, seq, task } = telling;
    let target: PinnedUrl;
    try {
      target = await guard(config.url);
    } catch (thrown) {
      return { accepted: false, problem: guardProblem(thrown), final: AgentError.from(thrown).code === "forbidden" };
    }
    const notice = await start.notify()?.(event, config, task);
    if (notice === undefined) return { accepted: false, problem: NO_NOTICES, final: true };
    const headers = { ...notice.headers, [PUSH_ID_HEADER]: pushId(config, seq), ...traceHeaders(event) };
    return post(
      links.to(target),
      makeRequest({ method: "POST", url: target.url, headers, body: notice.body, cancel: cancelFrom(signal) }),
    );
  }

  return { allows, send, close: () => links.close() };
}

/** The port for what the host was told, and what is to be closed with it. */
export function openPush(
  wanted: Maybe<boolean | PushOptions | PushPort>,
  start: Pick<PushSenderStart, "notify" | "atOnce">,
): { readonly port: Maybe<PushPort>; close(): Promise<void> } {
  if (wanted === undefined || wanted === false) return { port: undefined, close: async () => undefined };
  if (wanted !== true && "send" in wanted) return { port: wanted, close: async () => undefined };
  const sender = createPushSender({ ...(wanted === true ? {} : wanted), ...start });
  return { port: sender, close: () => sender.close() };
}

async function post(link: Link, request: HttpRequest): Promise<PushOutcome> {
  try {
    const response = await link.exchange(request);
    if (isStream(response.body)) await response.body[Symbol.asyncIterator]().return?.();
    return verdictOn(response);
  } catch (thrown) {
    return { accepted: false, problem: wireProblem(thrown) };
  }
}

function verdictOn({ status, headers }: HttpResponse): PushOutcome {
  if (status >= 200 && status < 300) return { accepted: true };
  if (status >= 300 && status < 400) return { accepted: false, problem: `HTTP ${status}: redirects are not followed` };
  // Gone is for good; everything else may be a mistake that somebody is about to mend.
  return {
    accepted: false,
    problem: `HTTP ${status}`,
    final: status === 410,
    retryAfterMs: retryAfterMs(headers["retry-after"]),
  };
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMs(header: Maybe<string>): Maybe<number> {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function traceHeaders(event: TaskEvent): { readonly traceparent?: string } {
  const traceparent = outgoingTraceparent(messageIn(event), startCall());
  return traceparent === undefined ? {} : { traceparent };
}

function messageIn(event: TaskEvent): Maybe<Envelope> {
  if (event.kind === "status") return event.status.message;
  return event.kind === "task" ? event.task.history.at(-1) : undefined;
}

function guardProblem(thrown: unknown): string {
  const { code, facts, message } = AgentError.from(thrown);
  if (facts.detail?.["class"] !== undefined) return `leads to a ${facts.detail["class"]} address, and only public ones are told`;
  return code === "internal" ? "the address could not be checked" : message;
}

/** The pool's own words name the host and what happened. Others might quote a header. */
function wireProblem(thrown: unknown): string {
  const { code, message } = AgentError.from(thrown);
  return code === "encode" || code === "internal" ? "the request could not be written" : message;
}

/** Links that dial checked addresses only. A name that moves to other addresses gets another link, so no old socket is used. */
class PinnedLinks {
  readonly #most: number;
  readonly #tls: PoolOptions["tls"];
  readonly #links = new Map<string, Link>();

  constructor(most: number, tls: PoolOptions["tls"]) {
    this.#most = most;
    this.#tls = tls;
  }

  to(target: PinnedUrl): Link {
    const key = `${new URL(target.url).origin} ${target.addresses.map(({ address }) => address).join(" ")}`;
    const link = this.#links.get(key) ?? this.#open(target);
    // Put back at the end: the first is the one that was used the longest time ago.
    this.#links.delete(key);
    this.#links.set(key, link);
    for (const [oldKey, old] of this.#links) {
      if (this.#links.size <= this.#most) break;
      this.#links.delete(oldKey);
      void old.close();
    }
    return link;
  }

  async close(): Promise<void> {
    const links = [...this.#links.values()];
    this.#links.clear();
    await Promise.all(links.map((link) => link.close()));
  }

  #open(target: PinnedUrl): Link {
    const limits = { ...DEFAULT_LIMITS, bodyBytes: ANSWER_BYTES };
    return poolLink({ limits, lookup: pinnedLookup(target), tls: this.#tls });
  }
}
