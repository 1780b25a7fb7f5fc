import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  hash,
  randomBytes,
  sign,
  verify,
} from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRedisStore, openSqliteStore } from "../../../../src/index.js";
import { DEFAULT_LIMITS, MessageSigner, SEALED_RECORDS, SealedChannel, SignatureVerifier } from "../../../../src/internal.js";
import { createReplayGuard, newCardKey, PLAIN_SIGNATURES, type ReplayGuard } from "../../../../src/public/auth.js";
import { orderOfRound } from "../../../harness/rounds.js";
import { answerCommands } from "../../../harness/worker.js";
import type { CryptoCase, CryptoOrder } from "../crypto-cases.js";

/** Every arm without a socket. Answers with the CPU time of one operation of each arm in microseconds; for a guard, with its wall time. */

answerCommands({ run });

type Once = () => unknown;

const TAG = { authTagLength: 16 } as const;
const PER_TURN = 16;
const IN_FLIGHT = 32;
const BODY = randomBytes(1_024);
const ASSOCIATED = Buffer.from('{"id":"m-1"}');
const BOUND_BYTES = SEALED_RECORDS.labels.record.length + 32 + 1 + 8 + 4 + ASSOCIATED.length;
const made = new Map<string, Once | Promise<Once>>();

/** The arms in turns of a few calls, each time in another order. */
async function run({ case: measured, arms, sliceMs, redisUrl = "" }: CryptoOrder): Promise<readonly number[]> {
  const once = await Promise.all(arms.map(async (arm) => onceOf(measured, arm, redisUrl)));
  const spent = arms.map((_, index) => ({ once: once[index] as Once, us: 0, calls: 0 })); // as many
  const until = performance.now() + sliceMs * arms.length;
  for (let turn = 0; turn === 0 || performance.now() < until; turn++)
    for (const arm of orderOfRound(spent, turn)) {
      arm.us += measured.work === "replays" ? await wallUs(arm.once) : cpuUs(arm.once);
      arm.calls += measured.work === "replays" ? IN_FLIGHT : PER_TURN;
    }
  return spent.map(({ us, calls }) => us / calls);
}

function onceOf(measured: CryptoCase, arm: string, redisUrl: string): Once | Promise<Once> {
  const name = `${measured.key} ${arm}`;
  const known = made.get(name) ?? make(measured, arm, redisUrl);
  made.set(name, known);
  return known;
}

function make({ work, cipher = "aes-256-gcm", bytes = 0 }: CryptoCase, arm: string, redisUrl: string): Once | Promise<Once> {
  if (work === "records") return arm === "bare" ? bareRecord(cipher, bytes) : sealedRecord(cipher, bytes);
  if (work === "signatures") return arm === "bare" ? bareSignature() : httpSignature();
  return addNonce(arm, redisUrl);
}

function cpuUs(once: Once): number {
  const from = process.cpuUsage();
  for (let call = 0; call < PER_TURN; call++) once();
  const { user, system } = process.cpuUsage(from);
  return user + system;
}

/** Waiting for a disk or another process is the cost of a guard, so its wall time counts. */
async function wallUs(once: Once): Promise<number> {
  const from = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, once));
  return (performance.now() - from) * 1_000;
}

/** The cipher and nothing else: a fixed key, a counted nonce, ciphertext and tag in one piece, opened again. */
function bareRecord(cipher: "aes-256-gcm" | "chacha20-poly1305", bytes: number): Once {
  const [key, plaintext, nonce] = [randomBytes(32), randomBytes(bytes), Buffer.alloc(12)];
  let number = 0;
  // As long as what a record binds.
  const [bound, about] = [randomBytes(BOUND_BYTES), { plaintextLength: bytes }];
  return () => {
    nonce.writeUInt32BE(number++, 8);
    // The overloads want each name by itself.
    const sealing = cipher === "aes-256-gcm" ? createCipheriv(cipher, key, nonce, TAG) : createCipheriv(cipher, key, nonce, TAG);
    sealing.setAAD(bound, about);
    const sealed = Buffer.concat([nonce, sealing.update(plaintext), sealing.final(), sealing.getAuthTag()]);
    const end = sealed.length - TAG.authTagLength;
    const opening =
      cipher === "aes-256-gcm" ? createDecipheriv(cipher, key, nonce, TAG) : createDecipheriv(cipher, key, nonce, TAG);
    opening.setAAD(bound, about).setAuthTag(sealed.subarray(end));
    const opened = opening.update(sealed.subarray(nonce.length, end));
    opening.final();
    if (opened.length !== bytes) throw new Error("not opened");
  };
}

function sealedRecord(cipher: "aes-256-gcm" | "chacha20-poly1305", bytes: number): Once {
  const [secret, transcript, plaintext] = [randomBytes(32), randomBytes(32), randomBytes(bytes)];
  const profile = { ...SEALED_RECORDS, cipher, records: Number.MAX_SAFE_INTEGER };
  const start = { secret, transcript, profile, now: Date.now };
  const from = new SealedChannel({ ...start, role: "initiator" });
  const to = new SealedChannel({ ...start, role: "responder" });
  return () => {
    if (to.open(from.seal(plaintext, ASSOCIATED), ASSOCIATED).length !== bytes) throw new Error("not opened");
  };
}

function keyPair() {
  const { privatePem } = newCardKey("EdDSA");
  return { own: createPrivateKey(privatePem), other: createPublicKey(privatePem) };
}

/**
 * What cannot be avoided: the digest and the signature of a base of the same length, made and checked. The base differs each time, as a
 * nonce makes it: the same one again is cheaper, because the processor has learned its branches.
 */
function bareSignature(): Once {
  const { own, other } = keyPair();
  const base = randomBytes(330);
  let number = 0;
  return () => {
    base.writeUInt32BE(number++, 0);
    const digest = hash("sha256", BODY, "base64");
    const signature = sign(null, base, own);
    if (!verify(null, base, other, signature) || hash("sha256", BODY, "base64") !== digest) throw new Error("not verified");
  };
}

function httpSignature(): Once {
  const { own, other } = keyPair();
  const key = {
    keyId: "did:web:agent.example#key-1",
    algorithm: "ed25519" as const,
    sign: (base: Uint8Array) => sign(null, base, own),
  };
  const signer = new MessageSigner({ profile: PLAIN_SIGNATURES, key, now: Date.now });
  const verifier = new SignatureVerifier(PLAIN_SIGNATURES);
  const known = { algorithm: "ed25519" as const, key: other };
  const request = { method: "POST", target: "https://agent.example/a2a", headers: { "content-type": "application/json" } };
  return () => {
    const fields = signer.request(request, BODY);
    if (fields instanceof Promise) throw new Error("the key signs at once");
    const headers = { ...request.headers, ...fields };
    const order = {
      message: { request: { ...request, headers } },
      kind: "request" as const,
      hasBody: true,
      nowMs: Date.now(),
      keys: () => known,
    };
    const verified = verifier.verify(order);
    if (verified instanceof Promise) throw new Error("the key was there at once");
    verifier.checkBody(verified, BODY);
  };
}

async function addNonce(arm: string, redisUrl: string): Promise<Once> {
  const guard = await guardOf(arm, redisUrl);
  let number = 0;
  return () => guard.add(`signer ${number % 64}`, `nonce ${number++}`, Date.now() + 1_000, Date.now());
}

async function guardOf(arm: string, url: string): Promise<ReplayGuard> {
  const limits = DEFAULT_LIMITS;
  if (arm === "memory") return createReplayGuard({ limits, now: Date.now, knownSinceMs: 0 });
  const file = join(mkdtempSync(join(tmpdir(), "koine-bench-replay-")), "replay.db");
  const store = arm === "sqlite" ? await openSqliteStore({ file, now: Date.now }) : await openRedisStore({ url });
  const guard = store.replayGuard?.(limits, Date.now);
  if (guard === undefined) throw new Error(`${arm} has no guard`);
  return guard;
}
