import type { JsonObject } from "../../../envelope/index.js";
import { demand, demandObject, demandString, show, skip } from "../../check.js";
import { ASK, METHODS } from "../wire.js";
import { type AnpRequirement, call, failure, type Probe, postText, sending } from "./probe.js";

const ANP_02 = "ANP-02 1.2";
const RPC = "JSON-RPC 2.0 §5.1";

/** A call with header fields of its own; the subject's credentials are left out. */
function presenting(probe: Probe, headers: { readonly [name: string]: string }): ReturnType<typeof call> {
  const method = probe.koine ? ASK : "no.such.method";
  return call(probe, method, { text: "hello" }, { headers, anonymous: true });
}

async function demandUnauthorized(probe: Probe, headers: { readonly [name: string]: string }): Promise<void> {
  const { status, headers: answered } = await presenting(probe, headers);
  demand(status === 401 || status === 403, `answered ${status}`);
  if (status === 401) demandString(answered["www-authenticate"], "WWW-Authenticate");
}

const AT = "2026-01-02T03:04:05Z";
const NONCE = "00112233445566778899aabbccddeeff";
const INPUT = (components: string): string =>
  `sig1=(${components});created=1767323045;expires=1767323345;nonce="n";keyid="did:wba:nobody.invalid#key-1"`;
const SIGNATURE = `sig1=:${"A".repeat(86)}==:`;

function coded(key: string, behaviour: string, body: string, code: number): AnpRequirement {
  return {
    key,
    capability: "edge-cases",
    source: RPC,
    behaviour,
    async run(probe) {
      if (probe.rpc === "") return skip("there is no endpoint");
      const got = await postText(probe, body);
      if (got.status === 401) return skip("the server asks for a proof first");
      const error = await failure(got);
      demand(error["code"] === code, `the code is ${show(error["code"])}`);
    },
  };
}

/** Requests that a server refuses. */
export const refusalRequirements: readonly AnpRequirement[] = [
  {
    key: "auth:unknown-did",
    capability: "security",
    source: `${ANP_02}, signature verification`,
    behaviour: "A signature of a DID that cannot be resolved is refused with 401 and a challenge.",
    run: (probe) =>
      demandUnauthorized(probe, {
        "signature-input": INPUT('"@method" "@target-uri" "content-digest"'),
        signature: SIGNATURE,
        "content-digest": "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:",
      }),
  },
  {
    key: "auth:coverage",
    capability: "security",
    source: `${ANP_02}, minimum coverage`,
    behaviour: "A signature that covers the method alone is refused.",
    run: (probe) => demandUnauthorized(probe, { "signature-input": INPUT('"@method"'), signature: SIGNATURE }),
  },
  {
    key: "auth:stripped",
    capability: "security",
    source: `${ANP_02}, signature verification`,
    behaviour: "A request with Signature-Input and without Signature is refused.",
    run: (probe) => demandUnauthorized(probe, { "signature-input": INPUT('"@method" "@target-uri"') }),
  },
  {
    key: "auth:old-header",
    capability: "security",
    source: `${ANP_02}, the DIDWba header`,
    behaviour: "A DIDWba header from another time is refused.",
    run: (probe) =>
      demandUnauthorized(probe, {
        authorization: `DIDWba v="1.1", did="did:wba:nobody.invalid", nonce="${NONCE}", timestamp="${AT}", verification_method="key-1", signature="AAAA"`,
      }),
  },
  {
    key: "auth:incomplete-header",
    capability: "security",
    source: `${ANP_02}, the DIDWba header`,
    behaviour: "A DIDWba header without its members is refused.",
    run: (probe) => demandUnauthorized(probe, { authorization: "DIDWba realm" }),
  },
  {
    key: "direct:unproven",
    capability: "security",
    source: "ANP messaging P1 §7",
    behaviour: "A direct message without an origin proof, or for another target, is refused.",
    needs: ["koine"],
    async run(probe) {
      const meta: JsonObject = {
        profile: "anp.direct.base.v1",
        security_profile: "transport-protected",
        sender_did: "did:wba:nobody.invalid",
        target: { kind: "agent", did: probe.description["did"] ?? "did:wba:other.invalid" },
        operation_id: "o-1",
        message_id: "m-1",
        created_at: AT,
        content_type: "text/plain",
      };
      const error = await failure(await call(probe, "direct.send", { meta, body: { text: "hello" } }));
      demandObject(error["data"], "data");
    },
  },
  coded("rpc:not-json", "A body that is not JSON is a parse error.", "{", -32700),
  coded("rpc:batch", "A batch is refused as an invalid request.", "[]", -32600),
  coded("rpc:no-method", "A request without a method is invalid.", '{"jsonrpc":"2.0","id":"1"}', -32600),
  coded("rpc:unknown-method", "An unknown method is not found.", '{"jsonrpc":"2.0","id":"1","method":"no.such"}', -32601),
  {
    key: "params:missing",
    capability: "edge-cases",
    source: RPC,
    behaviour: "Parameters that are missing are invalid, and the error names the member.",
    needs: ["koine"],
    async run(probe) {
      const error = await failure(await call(probe, METHODS.send, {}));
      demand(error["code"] === -32602, `the code is ${show(error["code"])}`);
      demand(String(error["message"]).includes("message"), `it says ${show(error["message"])}`);
    },
  },
  {
    key: "params:two-contents",
    capability: "edge-cases",
    source: "Koine's methods, docs/anp.md",
    behaviour: "A part with two contents is refused.",
    needs: ["koine"],
    async run(probe) {
      await failure(await call(probe, METHODS.send, { message: { parts: [{ text: "a", url: "b" }] } }));
    },
  },
  {
    key: "stream:not-accepted",
    capability: "edge-cases",
    source: "Koine's methods, docs/anp.md",
    behaviour: "After a refused request the next one is answered.",
    needs: ["koine"],
    async run(probe) {
      await call(probe, METHODS.send, { message: 1 });
      const got = await call(probe, METHODS.send, sending("hello"));
      demand(demandObject(got.json, "the answer")["result"] !== undefined, `answered ${show(got.json)}`);
    },
  },
];
