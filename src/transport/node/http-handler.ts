import type { IncomingMessage, ServerResponse } from "node:http";
import type { Maybe } from "../../envelope/index.js";
import type { Exchange, HttpResponse, Intake, RequestHead } from "../exchange.js";
import { intakeOf } from "../intake.js";
import type { Limits } from "../limits.js";
import { belowBase, bodyConsumed, foreignEncoding, refuseConsumed, refuseEncoding, refuseOutside } from "../refusal.js";
import type { ExchangeContext } from "./http-exchange.js";
import { Http1Exchange } from "./http1-exchange.js";
import { type Address, addressOf, headersOf } from "./incoming-request.js";
import { refuseEarly } from "./refuse-early.js";
import { refuseMessage } from "./refuse-message.js";
import { ProxyTrust, type TrustedProxies } from "./trusted-proxies.js";

export interface HttpHandlerOptions {
  readonly limits: Limits;
  /** The mount point; the exchange sees the path below it. */
  readonly basePath?: Maybe<string>;
  /** The paths below the mount point that are served here. Used as middleware, every other path is passed on. Default: all. */
  readonly claims?: Maybe<(path: string) => boolean>;
  /** Receives errors of the exchange and its streams. The client only sees a 500 or a cut stream. */
  readonly onError?: Maybe<(thrown: unknown) => void>;
  /** The proxies in front. */
  readonly trustedProxies?: Maybe<TrustedProxies>;
  /** Requests that are served also at shutdown. Default: none. */
  readonly servesWhileClosing?: Maybe<(head: RequestHead) => boolean>;
}

/** Express strips the mount point from `url` and keeps the full path in `originalUrl`. */
type MountedRequest = IncomingMessage & { readonly originalUrl?: string; readonly baseUrl?: string };

/** Converts Node's HTTP/1.1 requests to exchanges; shared by our own server and mounts in others. */
export class HttpHandler implements ExchangeContext {
  readonly intake: Intake;
  readonly limits: Limits;
  readonly proxies: ProxyTrust | undefined;
  readonly #basePath: string | undefined;
  readonly #claims: HttpHandlerOptions["claims"];
  readonly #onError: ((thrown: unknown) => void) | undefined;
  readonly #servesWhileClosing: HttpHandlerOptions["servesWhileClosing"];
  closing = false;
  openStreams = 0;
  unanswered = 0;

  constructor(server: Exchange | Intake, options: HttpHandlerOptions) {
    this.intake = intakeOf(server, options.limits);
    this.limits = options.limits;
    this.proxies = options.trustedProxies && new ProxyTrust(options.trustedProxies);
    this.#basePath = options.basePath;
    this.#claims = options.claims;
    this.#onError = options.onError;
    this.#servesWhileClosing = options.servesWhileClosing;
  }

  /** Serves one request. `expects`: the peer waits for `100 Continue`. */
  handle(req: IncomingMessage, res: ServerResponse, next?: () => void, expects = false): void {
    const address = this.addressOf(req);
    if (next !== undefined && !this.claims(address)) {
      next();
      return;
    }
    if (address === undefined) {
      refuseEarly(req, res, refuseOutside(this.#basePath ?? "/"), true);
      return;
    }
    const headers = headersOf(req);
    const length = headers["content-length"];
    const hasBody = length === undefined ? headers["transfer-encoding"] !== undefined : length !== "0";
    const refusal = refuseMessage(req) ?? (hasBody ? (this.#encodingRefusal(req) ?? this.#refuseIfConsumed(req)) : undefined);
    if (refusal !== undefined) refuseEarly(req, res, refusal, true);
    else new Http1Exchange(this, { req, res, address, hasBody, expects }).start();
  }

  /** Whether the path is served here. */
  claims(address: Address | undefined): boolean {
    return this.#claims === undefined || (address !== undefined && this.#claims(address.path));
  }

  refuses(head: RequestHead): boolean {
    return this.closing && this.#servesWhileClosing?.(head) !== true;
  }

  #encodingRefusal(req: IncomingMessage): HttpResponse | undefined {
    const encoding = foreignEncoding(headersOf(req));
    return encoding === undefined ? undefined : refuseEncoding(encoding);
  }

  report(thrown: unknown): void {
    this.#onError?.(thrown);
  }

  #refuseIfConsumed(req: IncomingMessage): HttpResponse | undefined {
    if (!req.readableDidRead && !req.readableEnded) return undefined;
    this.report(bodyConsumed());
    return refuseConsumed();
  }

  /** Signatures cover the full URL; routes match the path below the mount point. Undefined outside of it. */
  addressOf(req: MountedRequest): Address | undefined {
    const address = addressOf(req.originalUrl ?? req.url ?? "/");
    const base = this.#basePath ?? req.baseUrl;
    if (base === undefined || base === "") return address;
    const path = belowBase(address.path, base);
    return path === undefined ? undefined : { url: address.url, path, query: address.query };
  }
}
