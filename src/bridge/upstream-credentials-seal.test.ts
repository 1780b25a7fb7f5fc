import { describe, expect, it } from "vitest";
import { CallerCredential, ownerOf, type Principal, SELF, startCall } from "../envelope/index.js";
import { CREDENTIAL_KEPT_MS, credentialSeal } from "./upstream-credentials-seal.js";

const SECRET = new TextEncoder().encode("sixteen bytes or more of secret");
const ANN: Principal = { id: "ann", scheme: "bearer", scopes: [], owner: ownerOf("bearer", "ann") };
const BOB: Principal = { ...ANN, id: "bob", owner: ownerOf("bearer", "bob") };
const START = 1_700_000_000_000;

function at(agent = "orders") {
  let nowMs = START;
  const seal = credentialSeal(agent, SECRET, () => nowMs);
  const later = (ms: number): void => {
    nowMs = START + ms;
  };
  const sealed = (token: string) => seal.seal(startCall({ caller: ANN, credential: new CallerCredential(`Bearer ${token}`) }));
  const opens = (text: string | undefined, caller = ANN) => seal.open(text, startCall({ caller })).credential?.bearerToken();
  return { seal, later, sealed, opens };
}

const jwtUntil = (ms: number): string => `e30.${Buffer.from(JSON.stringify({ exp: ms / 1000 })).toString("base64url")}.sig`;

describe("a credential stored with a task", () => {
  it("can be opened for its owner only", () => {
    const { sealed, opens } = at();
    expect(opens(sealed("anns-token"))).toBe("anns-token");
    expect(() => opens(sealed("anns-token"), BOB)).toThrow("cannot be read by this gateway");
    expect(() => at("invoices").opens(sealed("anns-token"))).toThrow("cannot be read by this gateway");
  });

  it("expires with the token, and after a day at most", () => {
    const { sealed, opens, later } = at();
    const [short, long, opaque] = [
      sealed(jwtUntil(START + 60_000)),
      sealed(jwtUntil(START + 10 * CREDENTIAL_KEPT_MS)),
      sealed("x"),
    ];
    later(59_000);
    expect(opens(short)).toBeDefined();
    later(60_000);
    expect(() => opens(short)).toThrow("has expired");
    later(CREDENTIAL_KEPT_MS);
    expect(() => opens(long)).toThrow("has expired");
    expect(() => opens(opaque)).toThrow("has expired");
  });

  it("is replaced by the credential of the current call", () => {
    const { seal, sealed } = at();
    const call = startCall({ caller: ANN, credential: new CallerCredential("Bearer newer") });
    expect(seal.open(sealed("older"), call)).toBe(call);
  });

  it("is required if none is stored, except for the gateway itself", () => {
    const { opens } = at();
    expect(() => opens(undefined)).toThrow(expect.objectContaining({ code: "unauthenticated" }));
    expect(opens(undefined, SELF)).toBeUndefined();
  });

  it("is a bearer token", () => {
    const { seal } = at();
    expect(seal.seal(startCall({ credential: new CallerCredential("Basic YTpi") }))).toBeUndefined();
    expect(seal.seal(startCall())).toBeUndefined();
  });
});
