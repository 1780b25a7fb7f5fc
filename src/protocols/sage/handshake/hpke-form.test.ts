import { describe, expect, test } from "vitest";
import { Agents, fixedIdentity } from "../../../../test/sage/handshake-pair.js";
import type { JsonObject } from "../../../envelope/index.js";
import { ephemeralKey } from "../../../security/agreement/index.js";
import { sha256 } from "../../../security/hashes.js";
import { hpkeSender } from "../../../security/hpke/index.js";
import { expand, extract } from "../../../security/sealed-records/index.js";
import { exportContextOf, hpkeSchedule, type Init, infoOf, type Transcript } from "./hpke-schedule.js";
import { establish, Responder } from "./index.js";

const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");
const hex = (some: Uint8Array): string => Buffer.from(some).toString("hex");
const number = (value: number): Buffer => {
  const eight = Buffer.alloc(8);
  eight.writeBigUInt64BE(BigInt(value));
  return eight;
};

/** Public vectors of SAGE 0.10.0: `hpke-schedule.json`, case schedule-0, and `session-records.json` of its inspector. */
const SK_KEM = bytes("8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb");
const SK_HPKE = bytes("f4ec9b33b792c372c1d2c2063507b684ef925b8c75a42dbcbf57d63ccd381600");
const SK_C = bytes("2c26c5885569ac453186c9f3d5244ed67c506c6fb5769411ee6cb974291e49d0");
const SK_S = bytes("a4b35452cccbd728e123a277bfad5dfac8093e582f7a4b2347a72be483552e18");
const ALICE = "did:sage:web:agent.example:alice";
const BOB = "did:sage:web:agent.example:bob";
const CTX = "11111111-1111-4111-8111-111111111111";
const KID = "33333333-3333-4333-8333-333333333330";
const EXPORTER = bytes("a8de62cfb50aae8058d494a86b9420a9a04fbb5f19c4b25bda7c4cf251aa882c");
const SHARED = bytes("7cc2b7b281a0742951106c397572ff7ba1fc702a9fc46c9d8a0d984f52ed166f");
const TH = "a4dcfbf2cfe2b3ffd09acd65fbb78c675612b93c93b512a11b9b064786ee5488";
const SEED = "a670cc6a4cf4eed950a26f2e85a185457e283ba617fd87da485625d96a2a61a6";
const ACK_TAG = "3aa2c8a2e5374b0286a3f3c47e87278e01697f22eaa4303308c36e2c3c7f4ce8";

const init: Init = {
  v: "0.10.0",
  task: "hpke/init@0.10.0",
  ctx: CTX,
  initDid: ALICE,
  respDid: BOB,
  initKid: `${ALICE}#signing-1`,
  respKid: `${BOB}#signing-1`,
  kemKid: `${BOB}#kem-1`,
  suite: "hpke-base+x25519+hkdf-sha256",
  combiner: "e2e-x25519-hkdf-v1",
  nonce: "AAAAAAAAAAAAAAAAAAAAAA",
  enc: bytes("1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a").toString("base64url"),
  ephC: bytes("0efd55c5e6b9504e866a655a41d9dbeb823219ba58fa385bd90f2eb32065e17f").toString("base64url"),
};
const transcript: Transcript = {
  ...init,
  ephS: bytes("35d1875c846bebba25e54c5af1be9e3801c168ecdd1fd88509d41ae0b97f1718").toString("base64url"),
  kid: KID,
};

describe("the key schedule of SAGE 0.10.0", () => {
  test("is the same from the private keys on", () => {
    const info = infoOf(init);
    expect(hex(sha256(info))).toBe("cd3a6f8b3baadbb729378e51ccd90805dc9b3f492586f2fbde047b6134786439");
    const hpke = hpkeSender(ephemeralKey(SK_KEM).publicBytes, info, ephemeralKey(SK_HPKE));
    expect(Buffer.from(hpke.enc).toString("base64url")).toBe(init.enc);
    expect(hex(hpke.export(exportContextOf(info)))).toBe(hex(EXPORTER));
    expect(hex(ephemeralKey(SK_C).agree(ephemeralKey(SK_S).publicBytes))).toBe(hex(SHARED));
    const { th, seed, ack } = hpkeSchedule(transcript, EXPORTER, SHARED);
    expect([hex(th), hex(seed), hex(ack.tag())]).toEqual([TH, SEED, ACK_TAG]);
    expect(hex(extract(th, Buffer.concat([EXPORTER, SHARED])))).toBe(
      "3e79ae6f17d0d4e5c4eb133d67c12a3d13f63e8ee5bca8053bdbc9c7460795c9",
    );
    expect(hex(expand(seed, "sage-hpke-ack|0.10.0", th))).toBe(
      "d4d8a3128b93042a0cd6f018fc9612c86480aa8057b27cac2364f86fcd740d8f",
    );
  });

  test.each([
    ["c2s", 0, "c3a89552907e15483754f111e2460fd86a7eed19948cf21b9da1be328c7491bd"],
    ["c2s", 1, "9b1f13889532013ee3c3f93841d1495521b235cf272b3136bc4831d6852ff8b9"],
    ["c2s", 2, "2a5899795dda1a25f0135381898a07f1d8b568ce61cacf441e77ccbcc17afb6d"],
    ["c2s", 3, "0fc66e22c946a7622f4bfb9f3e0f901acfe3199348f891e56e6d4f1e43fd5f93"],
    ["s2c", 0, "f6175cf0d50d04f039693b1c1c40606f92f603d1c2ba8226f5c9e1a05dcacb2a"],
    ["s2c", 3, "8e813ca92c4580f409bb3d0b281a24412c8e86591eab0befd2df79b2104f797f"],
  ])("has the key %s of generation %i", (direction, generation, key) => {
    expect(hex(expand(bytes(SEED), `sage-${direction}-key|0.10.0`, bytes(TH), number(generation)))).toBe(key);
  });

  test.each([
    [
      "c4e401e2ba7ddd1e82200d524906ac9583a400a34c1b5ab575a4b323aa0a42b2",
      "85a395444baedcc9d9911b7b13e59378587d5c2d7a64ccd2d907c5ce6017ae7d",
      "3fbbd51aa56fd6ab3dc8f8c511c7f0e9225789f20b466a2bea51be77d5d04fb9",
      "8b32bf27a27af10cee3c7752c9d0f882316977302137b4698d2f5ffd9621c7af",
      "7397d13d992b4a07a104fcde2e11f6eb3f983406c64b6904b59f3c250923ee1d",
    ],
    [
      "c8356d2148832c4d14f05b738de7900f47179ea43dabd702a05a5938722adbea",
      "3b355c48c864350bbe7be2889c04ead02d82e54ec7d54f5c754f3ae25d660351",
      "5d7020ace584ab9641c423d1121ba782b1a07265f2107a39c14eccbbeefe2418",
      "aafef6c5e1f744e6f069491c5532d5dd1e00fc3d61ac94c5e37921aa26bfb2d1",
      "2c694e8f8034c3748e856de1168803e4fc09016368aea68497dd9a78edfdd7c5",
    ],
  ])("combines %s", (exporter, ...others) => {
    const [shared, th, seed, tag] = others;
    const made = expand(extract(bytes(th), bytes(exporter + shared)), "sage-hpke-combiner|0.10.0", bytes(th));
    expect(hex(made)).toBe(seed);
    expect(hex(extract(expand(made, "sage-hpke-ack|0.10.0", bytes(th)), bytes(th)))).toBe(tag);
  });
});

const RECORD_0 =
  "00000000000000000000000000000000000000000882116e879457582f3d127ea08eba98185f3bf0eef94b5ad246e724a9ea9cc763de56b152";
const ANSWER_0 =
  "0000000000000000000000000000000000000000f1557417e39f16176dfc2b21f48908774bd1131fb0e576ee96a77e36fdce1884c2734bdb97";

test("the handshake itself has these messages, this session and these records", async () => {
  const secret = (of: string): Uint8Array => sha256(`koine test: ${of}`);
  const alice = fixedIdentity(
    ALICE,
    { name: "signing-1", secret: secret("alice") },
    { name: "kem-1", secret: secret("alice kem") },
  );
  const bob = fixedIdentity(BOB, { name: "signing-1", secret: secret("bob") }, { name: "kem-1", secret: SK_KEM });
  const agents = new Agents(alice, bob);
  const fixed = (share: Uint8Array) => (what: "nonce" | "share" | "hpke") =>
    what === "nonce" ? new Uint8Array(16) : what === "share" ? share : SK_HPKE;
  agents.responder = new Responder({ ...agents.bob, newId: () => KID, fixed: fixed(SK_S) });
  const sent: JsonObject[] = [];
  const answers: JsonObject[] = [];
  let responding: unknown;
  const session = await establish({ ...agents.ann, newId: () => CTX, fixed: fixed(SK_C) }, { peerDid: BOB }, async (message) => {
    sent.push(message);
    const { reply, session: theirs } = await agents.responder.receive(message, agents.signedBy());
    answers.push(reply);
    responding = theirs;
    return reply;
  });
  expect(sent).toEqual([init]);
  expect(answers).toEqual([
    {
      v: "0.10.0",
      task: "hpke/complete@0.10.0",
      transcript,
      ackTagB64: bytes(ACK_TAG).toString("base64url"),
      sigB64: expect.stringMatching(/^[\w-]{86}$/),
    },
  ]);
  const view = { sessionId: "7_DwdcM8kMwneSBrBd-9Yg", keyId: KID, role: "initiator", ownDid: ALICE, peerDid: BOB };
  expect(session).toMatchObject(view);
  const other = responding as typeof session;
  expect(other).toMatchObject({ ...view, role: "responder", ownDid: BOB, peerDid: ALICE });
  const [plain, associated] = [Buffer.from("public session record"), Buffer.from("{}")];
  expect(hex(session.encrypt(plain, associated))).toBe(RECORD_0);
  expect(hex(other.decrypt(bytes(RECORD_0), associated))).toBe(hex(plain));
  expect(hex(other.encrypt(plain, associated))).toBe(ANSWER_0);
  expect(hex(session.decrypt(bytes(ANSWER_0), associated))).toBe(hex(plain));
});
