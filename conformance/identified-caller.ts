import { connect } from "../src/client/connect.js";
import type { ConnectOptions } from "../src/client/resolve-peer.js";
import type { IdentifiedCaller } from "../src/protocols/requirement.js";
import type { Identity } from "../src/security/identity/index.js";
import type { Exchange } from "../src/transport/exchange.js";
import { changeRequest } from "../src/transport/request.js";
import { exchangeSigned } from "../src/transport/sign.js";

export interface IdentifiedCallerOptions {
  /** The address or the DID of the endpoint. */
  readonly url: string;
  readonly identity: Identity;
  readonly exchange: Exchange;
  /** Credentials, settings and records of the run. */
  readonly options: Pick<ConnectOptions, "credentials" | "settings" | "records">;
}

/** Connects as the identity of the run, over the exchange of the run. */
export function identifiedCaller({ url, identity, exchange, options }: IdentifiedCallerOptions): IdentifiedCaller {
  return {
    identity,
    connect: ({ protocol, settings, send = (final, next) => next(final) }) =>
      connect(url, {
        ...options,
        as: "koine",
        identity,
        pin: protocol,
        resume: false,
        settings: { ...options.settings, [protocol]: { ...options.settings?.[protocol], ...settings } },
        link: {
          exchange: (request) => exchangeSigned(request, (final) => send(changeRequest(final, { signer: undefined }), exchange)),
          close: async () => undefined,
        },
      }),
  };
}
