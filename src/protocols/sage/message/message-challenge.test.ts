import { beforeAll, describe, expect, test } from "vitest";
import { agentNamed, knownAgents } from "../../../../test/sage/known-agents.js";
import { AgentError, type Envelope, type Proof } from "../../../envelope/index.js";
import { createResolver, type LocalIdentity } from "../../../security/identity/index.js";
import { createReplayGuard } from "../../../security/replay/index.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { NEVER } from "../../../transport/request.js";
import { askedNonce, MessageChallenges } from "./message-challenge.js";
import { proofIn, signMessage, type Verification, verifyMessage } from "./message-proof.js";
import { readProof } from "./task-request.js";

const NOW = 1_800_000_000_000;
const [ann, bob, eve] = [agentNamed("ann"), agentNamed("bob"), agentNamed("eve")];
const author = (identity: LocalIdentity, now = NOW) => ({ identity, now: () => now, newId: () => crypto.randomUUID() });
const resolver = createResolver({ methods: [knownAgents] });
const MESSAGE: Envelope = {
  ...{ id: "m-1", ts: NOW / 1_000, src: "ann", dst: "bob", intent: "", role: "user", context: {}, meta: {} },
  content: [{ kind: "text", text: "hello" }],
};

async function signedBy(identity: LocalIdentity, id = "m-1", nonce?: string): Promise<{ envelope: Envelope; proof: Proof }> {
  const envelope = await signMessage({ ...MESSAGE, id }, bob.did, { ...author(identity), nonce });
  const proof = proofIn(envelope);
  if (proof === undefined) throw new Error("not signed");
  return { envelope, proof };
}

/** What Ann makes of a refusal of what she signed. */
const asked = (refusal: AgentError, request: Proof, now = NOW) =>
  askedNonce(refusal, request, bob.did, { resolver, now: () => now, cancel: NEVER, recipient: ann.did });

let request: Proof;
beforeAll(async () => {
  ({ proof: request } = await signedBy(ann));
});

describe("a challenge is answered", () => {
  test("if the agent signed it for this message", async () => {
    const challenges = new MessageChallenges(author(bob));
    const nonce = await asked(await challenges.refusal(request), request);
    expect(nonce === undefined ? nonce : challenges.isAsked(nonce)).toBe(true);
  });

  test.each([
    ["by somebody else", async () => new MessageChallenges(author(eve)).refusal(request)],
    ["for another message", async () => new MessageChallenges(author(bob)).refusal((await signedBy(ann, "m-2")).proof)],
    ["for somebody else", async () => new MessageChallenges(author(bob)).refusal((await signedBy(eve)).proof)],
    ["that cannot be read", async () => withChallenge("x.y")],
    [
      "in a refusal for another reason",
      async () => new AgentError("unauthenticated", "no", { detail: { reason: "sig.replay" } }),
    ],
    ["that is the message itself", async () => withChallenge(await texts(request))],
  ])("and not one %s", async (_what, refusal) => {
    expect(await asked(await refusal(), request)).toBeUndefined();
  });

  test("and not one with an altered signature, or one that is too old", async () => {
    const refusal = await new MessageChallenges(author(bob)).refusal(request);
    const text = refusal.facts.detail?.["challenge"] ?? "";
    const { signed, signature } = readProof(text);
    const altered = signature.map((byte, at) => (at === 0 ? byte ^ 1 : byte));
    expect(await asked(withChallenge(await texts({ signed, signature: altered })), request)).toBeUndefined();
    expect(await asked(refusal, request, NOW + 331_000)).toBeUndefined();
  });

  const texts = async ({ signed, signature }: Pick<Proof, "signed" | "signature">) =>
    `${Buffer.from(signed).toString("base64url")}.${Buffer.from(signature).toString("base64url")}`;
  const withChallenge = (challenge: string) =>
    new AgentError("unauthenticated", "no", { detail: { error: "ErrReplayAttack", reason: "message.challenge", challenge } });
});

describe("an agent that has just started", () => {
  const started = (): Verification & { readonly challenges: MessageChallenges } => ({
    ...{ resolver, cancel: NEVER, recipient: bob.did, now: () => NOW },
    replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: () => NOW }),
    challenges: new MessageChallenges(author(bob)),
  });

  async function refusalOf({ envelope, proof }: { envelope: Envelope; proof: Proof }, by: Verification): Promise<AgentError> {
    // As another process gets it.
    return verifyMessage(envelope, { ...proof }, by).then(
      () => Promise.reject(new Error("it was accepted")),
      (thrown: unknown) => AgentError.from(thrown),
    );
  }

  test("accepts a message that is signed again with its nonce, once, and no process after it does", async () => {
    const by = started();
    const first = await signedBy(ann);
    const nonce = await asked(await refusalOf(first, by), first.proof);
    const second = await signedBy(ann, "m-1", nonce);
    expect((await verifyMessage(second.envelope, { ...second.proof }, by)).envelope.content).toEqual(MESSAGE.content);
    expect((await refusalOf(second, by)).facts.detail?.["reason"]).toBe("sig.replay");
    expect((await refusalOf(second, started())).facts.detail?.["reason"]).toBe("message.challenge");
    expect((await refusalOf(first, by)).facts.detail?.["reason"]).toBe("message.challenge");
  });
});
