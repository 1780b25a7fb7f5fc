import type { Call, Envelope, Floor, Handler } from "../../envelope/index.js";
import type { Identity } from "../../security/identity/index.js";
import type { Session } from "../../transport/exchange.js";
import type { ClientContext, Host, Route } from "../protocol.js";

/** What `session/` gives the client: the calls of the binding `WS`. */
export interface SessionClient {
  readonly handler: Handler;
  protection(): Floor;
  receive(call: Call): AsyncIterable<Envelope>;
  close(): Promise<void>;
}

export type ConnectSession = (context: ClientContext, identity: Identity) => SessionClient;

/** What `session/` gives the server. */
export interface SessionServer {
  readonly accept: (session: Session) => Promise<void>;
  readonly say: (owner: string, envelope: Envelope) => Promise<void>;
  readonly close: () => Promise<void>;
}

export type ServeSessions = (host: Host, identity: Identity) => SessionServer;

/** How `session/` joins the protocol. */
export interface Sessions {
  readonly routes: readonly Route[];
  readonly connect: ConnectSession;
  readonly serve: ServeSessions;
}
