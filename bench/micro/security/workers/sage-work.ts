import { diffieHellman, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { DEFAULT_LIMITS } from "../../../../src/internal.js";
import { establish, type HandshakeForm, type HandshakeSide, Responder } from "../../../../src/protocols/sage/handshake/index.js";
import { DidCache, type DidCacheLimits } from "../../../../src/protocols/sage/identity/did-cache.js";
import { createReplayGuard } from "../../../../src/public/auth.js";
import { createIdentity } from "../../../../src/public/identity.js";
import {
  chainRegistry,
  embeddedRegistry,
  newAgent,
  register,
  startDevChain,
  type TestRegistry,
} from "../../../../test/sage/registries.js";
import { answerCommands } from "../../../harness/worker.js";

/** Handshakes and resolutions, one after the other. Answers with the CPU time of this process and the wall time of one, in microseconds. */

answerCommands({ run });

export interface WorkOrder {
  readonly arm: string;
  readonly sliceMs: number;
}

export interface WorkTime {
  readonly cpuUs: number;
  readonly wallUs: number;
}

type Once = () => unknown;

const made = new Map<string, Promise<Once>>();
const ARMS: Readonly<Record<string, () => Once | Promise<Once>>> = {
  "bare hpke": () => barePrimitives({ keys: 3, agreements: 4, signatures: 1 }),
  hpke: () => handshake("hpke"),
  "bare four-phase": () => barePrimitives({ keys: 4, agreements: 6, signatures: 4 }),
  "four-phase": () => handshake("four-phase"),
  "embedded, cached": () => resolution(embedded(), { ttlMs: 60_000 }),
  "embedded, not cached": () => resolution(embedded(), { ttlMs: 0 }),
  "chain, cached": () => resolution(chain(), { ttlMs: 60_000 }),
  "chain, not cached": () => resolution(chain(), { ttlMs: 0 }),
};

async function run({ arm, sliceMs }: WorkOrder): Promise<WorkTime> {
  const make = ARMS[arm];
  if (make === undefined) throw new Error(`no arm ${arm}`);
  const known = made.get(arm) ?? Promise.resolve(make());
  made.set(arm, known);
  const once = await known;
  let calls = 0;
  const from = process.cpuUsage();
  const startedAt = performance.now();
  while (calls === 0 || performance.now() - startedAt < sliceMs) {
    await once();
    calls++;
  }
  const { user, system } = process.cpuUsage(from);
  return { cpuUs: (user + system) / calls, wallUs: ((performance.now() - startedAt) * 1_000) / calls };
}

/** What a handshake cannot avoid: keys that are made, agreements, and signatures that are made and checked. */
function barePrimitives({ keys, agreements, signatures }: Readonly<Record<"keys" | "agreements" | "signatures", number>>): Once {
  const signing = generateKeyPairSync("ed25519");
  const base = Buffer.alloc(900, "x");
  let number = 0;
  return () => {
    let pair: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync("x25519");
    for (let more = 1; more < keys; more++) pair = generateKeyPairSync("x25519");
    for (let each = 0; each < agreements; each++) diffieHellman(pair);
    for (let each = 0; each < signatures; each++) {
      base.writeUInt32BE(number++, 0);
      if (!verify(null, base, signing.publicKey, sign(null, base, signing.privateKey))) throw new Error("not verified");
    }
  };
}

/** Both halves in one process, without the signature of the envelope and without a transport. */
function handshake(form: HandshakeForm): Once {
  const [ann, bob] = ["a", "b"].map((digit) => createIdentity({ name: digit, did: `did:sage:local:0x${digit.repeat(40)}` }));
  if (ann === undefined || bob === undefined) throw new Error("there are two");
  const keys = new Map([ann, bob].map((each) => [each.did, each.keys()]));
  const replay = createReplayGuard({
    limits: { ...DEFAULT_LIMITS, replayEntries: 1e9, replayEntriesPerSigner: 1e9 },
    now: Date.now,
    knownSinceMs: 0,
  });
  const shared = { keysOf: (did: string) => keys.get(did) ?? [], replay, now: Date.now, newId: () => crypto.randomUUID() };
  const side: HandshakeSide = { ...shared, identity: ann };
  const responder = new Responder({ ...shared, identity: bob });
  const keyId = ann.keys().find(({ kind }) => kind === "Ed25519")?.id ?? "";
  return () =>
    establish(side, { peerDid: bob.did, form }, async (message) => {
      const { reply } = await responder.receive(message, { keyId, fromMs: Date.now() - 1_000, untilMs: Date.now() + 1_000 });
      return reply;
    });
}

let openEmbedded: Promise<TestRegistry> | undefined;
let openChain: Promise<TestRegistry> | undefined;

function embedded(): Promise<TestRegistry> {
  openEmbedded ??= embeddedRegistry();
  return openEmbedded;
}

function chain(): Promise<TestRegistry> {
  openChain ??= startDevChain(0).then(chainRegistry);
  return openChain;
}

async function resolution(opened: Promise<TestRegistry>, limits: Pick<DidCacheLimits, "ttlMs">): Promise<Once> {
  const registry = await opened;
  const agent = await newAgent();
  await register(registry, agent);
  const cache = new DidCache({ registries: [registry.registry], limits });
  return () => cache.resolvePublicKey(agent.did);
}
