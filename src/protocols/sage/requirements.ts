import { isObject, type Maybe } from "../../envelope/index.js";
import { contentDigest } from "../../security/signatures/index.js";
import { ask, type RawResponse } from "../ask.js";
import { demand, demandObject, show, toRequirement } from "../check.js";
import type { Requirement } from "../requirement.js";
import { parseSageDid } from "./identity/did-sage.js";
import { identifiedRequirements } from "./requirements/identified.js";
import { addressIn, type Probe, probeOf, type SageRequirement } from "./requirements/probe.js";
import { BINDING, DID_HEADER, SESSION_HEADER, TAG, VERSION } from "./wire.js";

const SOURCE = "docs/sage.md";
/** A DID that no registry has. */
const NOBODY = `did:sage:local:0x${"0".repeat(39)}1`;
const SIGNATURE = `sage=:${"A".repeat(86)}==:`;
const COVERED = '"@method" "@authority" "@path" "@query" "content-type" "content-digest" "date" "x-agent-did"';

/** A message in the name of nobody, with these header fields. */
function posted({ subject, url }: Probe, headers: { readonly [name: string]: Maybe<string> }): Promise<RawResponse> {
  const message = { messageId: subject.newId(), role: "ROLE_USER", parts: [{ text: "hello" }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  const own = { "content-type": "application/json", "a2a-version": "1.0", "content-digest": contentDigest(body, "sha-256") };
  return ask(subject, {
    method: "POST",
    url,
    headers: { ...own, date: "Thu, 01 Jan 2026 00:00:00 GMT", ...headers },
    body,
    anonymous: true,
  });
}

function signed(change: { readonly covered?: string; readonly parameters?: string } = {}): { readonly [name: string]: string } {
  const { covered = COVERED, parameters = parametersOf(Math.floor(Date.now() / 1_000)) } = change;
  return { [DID_HEADER]: NOBODY, "signature-input": `sage=(${covered})${parameters}`, signature: SIGNATURE };
}

function parametersOf(created: number, lifetime = 300): string {
  return `;created=${created};expires=${created + lifetime};nonce="${crypto.randomUUID()}";keyid="${NOBODY}#key-1";alg="ed25519";tag="${TAG}"`;
}

function demandRefused({ status, json, text }: RawResponse, ...names: readonly string[]): void {
  demand(status === 401 || status === 403 || status === 503, `answered ${status}`);
  demand(isObject(json) && json["result"] === undefined, `answered ${show(json)}`);
  if (names.length > 0)
    demand(
      names.some((name) => text.includes(name)),
      `answered ${show(json)}`,
    );
}

function refuses(
  key: string,
  behaviour: string,
  headers: () => { readonly [name: string]: string },
  ...names: readonly string[]
): SageRequirement {
  return {
    ...{ key, behaviour, capability: "security", source: SOURCE },
    run: async (probe) => demandRefused(await posted(probe, headers()), ...names),
  };
}

const now = (): number => Math.floor(Date.now() / 1_000);

/** What anybody can see of the endpoint: nobody in its registry vouches for who runs these. */
const all: readonly SageRequirement[] = [
  {
    key: "card:did",
    capability: "connectivity",
    source: SOURCE,
    behaviour: "The extension on the card names a did:sage.",
    run: async ({ did }) => demand(parseSageDid(did) !== undefined, `the DID is ${show(did)}`),
  },
  {
    key: "card:plain",
    capability: "connectivity",
    source: SOURCE,
    behaviour: "The card has an interface of A2A over JSON-RPC, at which marked requests are taken.",
    run: async ({ card }) => demand(addressIn(card) !== undefined, `the interfaces are ${show(card["supportedInterfaces"])}`),
  },
  {
    key: "answer:signed",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "An answer, also a refusal, is signed by the DID of the card and bound to the signature of its request.",
    async run(probe) {
      const { headers } = await posted(probe, signed());
      demand(headers[DID_HEADER] === probe.did, `${DID_HEADER} is ${show(headers[DID_HEADER])}`);
      const input = headers["signature-input"] ?? "";
      demand(input.includes(`keyid="${probe.did}#`), `the signature is ${show(input)}`);
      for (const part of ['"@status"', '"signature";req', '"@path";req', '"content-digest"', `tag="${TAG}"`, "expires="])
        demand(input.includes(part), `the signature does not have ${part}: ${show(input)}`);
    },
  },
  {
    key: "answer:digest",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "The digest of an answer is that of its body.",
    async run(probe) {
      const { headers, bytes } = await posted(probe, signed());
      demand(headers["content-digest"] === contentDigest(bytes, "sha-256"), `it is ${show(headers["content-digest"])}`);
    },
  },
  {
    key: "answer:fresh",
    capability: "edge-cases",
    source: SOURCE,
    behaviour: "Two answers to the same text have different signatures.",
    async run(probe) {
      const [one, two] = [await posted(probe, signed()), await posted(probe, signed())];
      demand(one.headers["signature"] !== two.headers["signature"], "both are the same");
    },
  },
  refuses(
    "marked:unsigned",
    "A request that names a DID and is not signed is refused, and not handled as plain A2A.",
    () => ({ [DID_HEADER]: NOBODY }),
    "ErrInvalidSignature",
  ),
  refuses(
    "unknown:did",
    "A signature of a DID that no registry has is refused.",
    () => signed(),
    "ErrDIDNotResolved",
    "ErrInvalidSignature",
  ),
  refuses(
    "coverage",
    "A signature that does not cover the digest of the body is refused.",
    () => signed({ covered: COVERED.replace('"content-digest" ', "") }),
    "ErrInvalidSignature",
  ),
  refuses(
    "lifetime",
    "A signature that is valid for more than five minutes is refused.",
    () => signed({ parameters: parametersOf(now(), 301) }),
    "ErrInvalidSignature",
  ),
  refuses(
    "expired",
    "A signature of yesterday is refused.",
    () => signed({ parameters: parametersOf(now() - 86_400) }),
    "ErrInvalidSignature",
  ),
  refuses(
    "future",
    "A signature of tomorrow is refused.",
    () => signed({ parameters: parametersOf(now() + 86_400) }),
    "ErrInvalidSignature",
  ),
  refuses(
    "binding",
    "A signature by a key of another DID than the request names is refused.",
    () => ({ ...signed(), [DID_HEADER]: NOBODY.replace(/1$/, "2") }),
    "ErrInvalidSignature",
  ),
  refuses(
    "session:unknown",
    "A request in a session that the agent does not know is refused with ErrSessionExpired.",
    () => ({ ...signed(), [SESSION_HEADER]: crypto.randomUUID() }),
    "ErrSessionExpired",
  ),
  {
    key: "stream:refused",
    capability: "streaming",
    source: SOURCE,
    behaviour: "A stream is opened for nobody whose signature is not valid.",
    async run(probe) {
      const got = await posted(probe, { ...signed(), accept: "text/event-stream" });
      demandRefused(got);
      demand(got.headers["content-type"]?.startsWith("text/event-stream") !== true, "a stream was opened");
    },
  },
  {
    key: "task:refused",
    capability: "long-running",
    source: SOURCE,
    behaviour: "Tasks are shown to nobody whose signature is not valid.",
    async run(probe) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} });
      const own = { "content-type": "application/json", "a2a-version": "1.0", "content-digest": contentDigest(body, "sha-256") };
      const headers = { ...own, date: "Thu, 01 Jan 2026 00:00:00 GMT", ...signed() };
      const got = await ask(probe.subject, { method: "POST", url: probe.url, headers, body, anonymous: true });
      demandRefused(got);
      demand(demandObject(got.json, "the answer")["result"] === undefined, "tasks were shown");
    },
  },
];

/** The requirements for servers of SAGE. */
export const requirements: readonly Requirement[] = [...all, ...identifiedRequirements].map((requirement) =>
  toRequirement(`sage:${VERSION}`, requirement, { version: VERSION, binding: BINDING }, async (subject) =>
    requirement.run(await probeOf(subject)),
  ),
);
