import { ask } from "../../ask.js";
import { demand } from "../../check.js";
import type { AnpRequirement, Probe } from "./probe.js";
import { sessionAddress } from "./session-probe.js";

const SOURCE = "docs/anp-session.md";

/** The address of the session as an HTTP address. Skips if none is described. */
const sessionOf = (probe: Probe): URL => new URL(sessionAddress(probe).replace(/^ws/, "http"));

/** A session that Koine servers describe. */
export const sessionRequirements: readonly AnpRequirement[] = [
  {
    key: "session:did",
    capability: "connectivity",
    source: `${SOURCE}, Handshake`,
    behaviour: "The address of a session names the DID that is proved there, which is that of the description.",
    async run(probe) {
      const did = sessionOf(probe).searchParams.get("did");
      demand(did === probe.description["did"], `the address names ${did}, the description ${String(probe.description["did"])}`);
    },
  },
  {
    key: "session:upgrade",
    capability: "edge-cases",
    source: "RFC 6455 §4.2.1",
    behaviour: "A GET without an upgrade is refused at the address of a session.",
    async run(probe) {
      const { status } = await ask(probe.subject, { method: "GET", url: sessionOf(probe).href });
      demand(status >= 400 && status < 500, `answered ${status}`);
    },
  },
  {
    key: "session:subprotocol",
    capability: "security",
    source: `${SOURCE}, Handshake`,
    behaviour: "An upgrade that does not offer the subprotocol of the session is refused, so that nothing is sent in clear.",
    async run(probe) {
      const headers = {
        connection: "upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-protocol": "chat",
      };
      const { status } = await ask(probe.subject, { method: "GET", url: sessionOf(probe).href, headers });
      demand(status >= 400 && status < 500, `answered ${status}`);
    },
  },
];
