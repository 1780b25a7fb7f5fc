import { createIdentity, type Identity } from "../../../security/identity/index.js";
import type { Chunk } from "../../../transport/exchange.js";
import { demand, demandObject, show } from "../../check.js";
import { KEY_BYTES, NONCE_BYTES, PROFILES } from "../session/profile.js";
import { KINDS, sealKind } from "../session/record-kinds.js";
import { METHODS } from "../wire.js";
import type { AnpRequirement, Probe } from "./probe.js";
import { type Changed, demandRefused, ProbedSession, reasonIn } from "./session-probe.js";

const HANDSHAKE = "docs/anp-session.md, Handshake";
const RECORDS = "docs/anp-session.md, Records";

/** A handshake that must be refused: what is changed of it, and the reason. */
function refusing(key: string, reason: string, behaviour: string, changed: () => Changed): AnpRequirement {
  return {
    key,
    capability: "security",
    source: HANDSHAKE,
    behaviour,
    run: (probe) => demandRefused(probe, reason, changed()),
  };
}

/** Changes one message of the client, counted from 0. */
function changing(at: number, change: (frame: Chunk) => Chunk): Changed {
  return { sent: (frame, index) => (index === at ? change(frame) : frame) };
}

const inText = (change: (text: string) => string) => (frame: Chunk) => change(String(frame));

function flipped(frame: Chunk): Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(frame as Uint8Array)); // records are binary
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return bytes;
}

/** Signs as somebody else than its DID says. */
function impostor(): Identity {
  const made = (): Identity => createIdentity({ name: "conformance", did: "key" });
  const [own, other] = [made(), made()];
  const key = other.keys().find(({ uses }) => uses.includes("authentication"))?.id ?? "";
  return {
    name: own.name,
    did: own.did,
    keys: () => own.keys(),
    sign: (_key, bytes) => other.sign(key, bytes),
    agree: (...given) => own.agree(...given),
  };
}

/** A session that must end when something is sent in it: without an answer, and with a code that says whose fault it was. */
async function demandEnded(probe: Probe, change: (record: Uint8Array, text: string) => Chunk): Promise<void> {
  const session = await ProbedSession.open(probe);
  const channel = await session.shake(probe);
  const text = JSON.stringify({ jsonrpc: "2.0", id: probe.subject.newId(), method: METHODS.ping, params: {} });
  session.send(change(sealKind(channel, KINDS.text, Buffer.from(text)), text));
  const { code, messages } = await session.ended();
  demand(messages === 0, `it was answered by ${messages} messages`);
  demand(code === 1008, `closed with ${code}`);
}

/** What happens inside a session, and while it begins. */
export const handshakeRequirements: readonly AnpRequirement[] = [
  {
    key: "session:sealed",
    capability: "round-trip",
    source: HANDSHAKE,
    behaviour: "A server proves the DID of its address, accepts a DID that is proved to it, and answers calls in sealed records.",
    async run(probe) {
      const session = await ProbedSession.open(probe);
      try {
        const channel = await session.shake(probe);
        const id = probe.subject.newId();
        const answer = await session.call(channel, { jsonrpc: "2.0", id, method: METHODS.ping, params: {} });
        demand(answer["id"] === id, `answered ${show(answer)}`);
        demandObject(answer["result"], "result");
      } finally {
        session.close();
      }
    },
  },
  refusing("session:profile", "unsupported_profile", "A hello without a known profile is refused.", () =>
    changing(
      0,
      inText((text) => text.replace(PROFILES[0], "X25519-NULL")),
    ),
  ),
  refusing("session:recipient", "wrong_recipient", "A hello for another DID is refused.", () => ({
    to: { did: "did:wba:other.invalid" },
  })),
  refusing("session:address", "wrong_recipient", "A hello for another address of the same DID is refused.", () => ({
    to: { authority: "other.invalid" },
  })),
  refusing("session:time", "not_of_now", "A hello of ten minutes ago is refused.", () => ({ ahead: -600_000 })),
  refusing("session:form", "malformed", "A first message that is no hello is refused.", () => changing(0, () => "{}")),
  refusing("session:signed", "bad_signature", "A handshake that another key than that of the DID signed is refused.", () => ({
    side: { identity: impostor() },
  })),
  refusing("session:finish", "bad_finish", "A first record that was altered on the way is refused.", () => changing(1, flipped)),
  {
    key: "session:transcript",
    capability: "security",
    source: HANDSHAKE,
    behaviour: "The server signs the hello as it arrived, so that a client notices what was changed on the way.",
    async run(probe) {
      const session = await ProbedSession.open(probe);
      const spaced = changing(
        0,
        inText((text) => text.replace("{", "{ ")),
      );
      const reason = await session.shake(probe, spaced).then(() => "nothing", reasonIn);
      session.close();
      demand(reason === "bad_signature", `the client noticed ${show(reason)}`);
    },
  },
  {
    key: "session:replay",
    capability: "security",
    source: HANDSHAKE,
    behaviour: "A hello that was accepted is refused when it arrives again.",
    async run(probe) {
      const identity = createIdentity({ name: "conformance", did: "key" });
      const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
      const fixed = { ephemeral: random(KEY_BYTES), nonce: random(NONCE_BYTES) };
      const side = { identity, fixed };
      const first = await ProbedSession.open(probe);
      await first.shake(probe, { side });
      first.close();
      await demandRefused(probe, "replayed", { side });
    },
  },
  {
    key: "session:clear",
    capability: "security",
    source: RECORDS,
    behaviour: "A message in clear ends a sealed session, and is not answered.",
    run: (probe) => demandEnded(probe, (_record, text) => text),
  },
  {
    key: "session:altered",
    capability: "security",
    source: RECORDS,
    behaviour: "A record that was altered ends the session, and is not answered.",
    run: (probe) => demandEnded(probe, flipped),
  },
  {
    key: "session:left-out",
    capability: "security",
    source: RECORDS,
    behaviour: "A record that was left out ends the session with the next one.",
    async run(probe) {
      const session = await ProbedSession.open(probe);
      const channel = await session.shake(probe);
      const record = (): Uint8Array => sealKind(channel, KINDS.text, Buffer.from("{}"));
      record();
      session.send(record());
      const { code, messages } = await session.ended();
      demand(messages === 0 && code === 1008, `closed with ${code} after ${messages} messages`);
    },
  },
];
