import type { Maybe } from "../envelope/index.js";
import type { AddressClass } from "../security/index.js";
import type { HttpHeaders, SessionMessage } from "../transport/exchange.js";
import { isLoopbackHost, wasForwarded } from "../transport/loopback.js";

export interface ReachOptions {
  /** The bound address. */
  readonly host: string;
  readonly publicUrl?: Maybe<string>;
  readonly names?: Maybe<readonly string[]>;
  readonly trustedProxies?: Maybe<object>;
}

/**
 * Where the callers of a server are. Links in their messages may point there, and not to anything more private. Behind a proxy every
 * socket is a loopback socket: a public address, another host name, a configured proxy or one forwarded request makes callers public.
 */
export class CallerReach {
  #class: AddressClass;

  constructor(start: AddressClass) {
    this.#class = start;
  }

  static of({ host, publicUrl, names = [], trustedProxies }: ReachOptions): CallerReach {
    const local =
      isLoopbackHost(host) &&
      (publicUrl === undefined || isLoopbackHost(new URL(publicUrl).hostname)) &&
      names.every((name) => isLoopbackHost(name.replace(/:\d+$/, ""))) &&
      trustedProxies === undefined;
    return new CallerReach(local ? "loopback" : "public");
  }

  get class(): AddressClass {
    return this.#class;
  }

  /** One forwarded request is enough: a proxy is in front, and may not mark every request. */
  callStarted(from: { readonly headers: HttpHeaders } | SessionMessage): void {
    if (this.#class !== "loopback") return;
    if (wasForwarded("session" in from ? from.session.request.headers : from.headers)) this.#class = "public";
  }
}
