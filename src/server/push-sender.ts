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
import { createGuard, type PinnedUrl, type Resolve, resolveByDns } from "../security/index.js";
import type { PushNotification, PushOutcome, PushPort } from "../tasks/index.js";
import { outgoingTraceparent } from "../telemetry/traceparent.js";
import { type HttpRequest, type HttpResponse, isStream, type Link, type RequestSigner } from "../transport/exchange.js";
import type { PoolOptions } from "../transport/node/index.js";
import { makeRequest } from "../transport/request.js";
import { PinnedLinks } from "./pinned-links.js";
import type { WebhookFloor } from "./webhook-floor.js";

/** How push notifications are sent. Timeouts, attempts and concurrency are task limits. */
export interface PushOptions {
  /** Hosts, `name` or `name:port`, that are notified whatever their address. Default: none, only public addresses. */
  readonly allow?: readonly string[];
  /** Certificate authorities beside those of the platform. Certificates are always checked. */
  readonly tls?: PoolOptions["tls"];
  /** Default: the resolver of the system. */
  readonly resolve?: Resolve;
}

export interface PushSender extends PushPort {
  close(): Promise<void>;
}

export interface PushSenderOptions extends PushOptions {
  /** A function, because protocols are served after the sender is created. */
  notify(): Front["notify"];
  /** Concurrent notifications. */
  readonly atOnce: number;
  readonly floor: WebhookFloor;
  /** Signs every notification. */
  readonly signer: Maybe<RequestSigner>;
}

const NO_NOTICES = "no protocol of this host sends push notifications";
/** Hosts with open connections for each concurrent notification, so that none is closed while in use. */
const HOSTS_PER_WEBHOOK = 2;

/**
 * Sends push notifications over HTTP. The registering caller chooses the address, so it is checked before every request,
 * resolved once, and dialled at the checked addresses only; redirects are never followed.
 */
export function createPushSender(options: PushSenderOptions): PushSender {
  const guard = createGuard({ from: "public", allow: options.allow, resolve: options.resolve ?? resolveByDns });
  const links = new PinnedLinks(options.atOnce * HOSTS_PER_WEBHOOK, options.tls);

  async function allows(config: PushConfig, owner: string): Promise<void> {
    if (options.notify() === undefined) throw new AgentError("push_unsupported", NO_NOTICES);
    let target: PinnedUrl;
    try {
      target = await guard(config.url);
    } catch (thrown) {
      // A name that does not resolve now may resolve when there is an event to send.
      if (AgentError.from(thrown).code !== "forbidden") return;
      throw new AgentError("invalid_message", `url: ${guardProblem(thrown)}`, { field: "url", cause: thrown });
    }
    const refused = options.floor.ofWebhook({ config, owner }, target);
    if (refused !== undefined) throw refused;
  }

  async function send(notification: PushNotification, signal: AbortSignal): Promise<PushOutcome> {
    const { config, event, seq, task } = notification;
    let target: PinnedUrl;
    try {
      target = await guard(config.url);
    } catch (thrown) {
      return { accepted: false, problem: guardProblem(thrown), final: AgentError.from(thrown).code === "forbidden" };
    }
    const refused = await options.floor.ofNotification(notification, target);
    if (refused !== undefined) return { accepted: false, problem: `${refused.code}: ${refused.message}`, final: true };
    const notice = await options.notify()?.(event, config, task);
    if (notice === undefined) return { accepted: false, problem: NO_NOTICES, final: true };
    const headers = { ...notice.headers, [PUSH_ID_HEADER]: pushId(config, seq), ...traceHeaders(event) };
    return post(
      links.to(target),
      makeRequest({
        method: "POST",
        url: target.url,
        headers,
        body: notice.body,
        cancel: cancelFrom(signal),
        signer: options.signer,
      }),
    );
  }

  return { allows, send, close: () => links.close() };
}

/** The push port for the options of a host, and how to close it. */
export function openPush(
  push: Maybe<boolean | PushOptions | PushPort>,
  options: Pick<PushSenderOptions, "notify" | "atOnce" | "floor" | "signer">,
): { readonly port: Maybe<PushPort>; close(): Promise<void> } {
  if (push === undefined || push === false) return { port: undefined, close: async () => undefined };
  if (push !== true && "send" in push) return { port: push, close: async () => undefined };
  const sender = createPushSender({ ...(push === true ? {} : push), ...options });
  return { port: sender, close: () => sender.close() };
}

async function post(link: Link, request: HttpRequest): Promise<PushOutcome> {
  try {
    const response = await link.exchange(request);
    if (isStream(response.body)) await response.body[Symbol.asyncIterator]().return?.();
    return outcomeOf(response);
  } catch (thrown) {
    return { accepted: false, problem: wireProblem(thrown) };
  }
}

function outcomeOf({ status, headers }: HttpResponse): PushOutcome {
  if (status >= 200 && status < 300) return { accepted: true };
  if (status >= 300 && status < 400) return { accepted: false, problem: `HTTP ${status}: redirects are not followed` };
  // 410 Gone is final; any other status may be temporary.
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
  if (facts.detail?.["class"] !== undefined) return `resolves to a ${facts.detail["class"]} address; webhooks need a public one`;
  return code === "internal" ? "the address could not be checked" : message;
}

/** Errors of the connection pool are safe to show. Others might quote a header. */
function wireProblem(thrown: unknown): string {
  const { code, message } = AgentError.from(thrown);
  return code === "encode" || code === "internal" ? "the request could not be written" : message;
}
