import { type Awaitable, isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import type { Identity } from "../../../security/identity/index.js";
import { MessageSigner } from "../../../security/signatures/index.js";
import { wholeBody } from "../../../transport/body.js";
import type { HttpHeaders, HttpRequest } from "../../../transport/exchange.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { changeRequest } from "../../../transport/request.js";
import { ask, open, type RawRequest, type RawResponse } from "../../ask.js";
import { demand, demandObject, type RequirementText, show, skip, toRequirement } from "../../check.js";
import { type Frame, readFrames } from "../../frames.js";
import { CONFORMANCE_TAG, type Requirement, type Subject } from "../../requirement.js";
import { readChallenge } from "../authentication/challenge.js";
import { SIGNATURES } from "../authentication/signatures.js";
import { messageKeyOf } from "../identity/own-identity.js";
import { BASE, DESCRIPTION, METHODS, VERSION } from "../wire.js";

/** What a check knows of the endpoint. */
export interface Probe {
  readonly subject: Subject;
  /** Where the description is, and what it says. */
  readonly at: string;
  readonly description: JsonObject;
  /** Where the interface is, if the description names it; its document and its endpoint. */
  readonly interfaceAt: Maybe<string>;
  readonly openrpc: Maybe<JsonObject>;
  readonly rpc: string;
  /** The interface has Koine's methods. */
  readonly koine: boolean;
  /** The agent understands the commands of the conformance agent. */
  readonly commands: boolean;
}

/** A requirement for servers. */
export interface AnpRequirement extends RequirementText {
  readonly needs?: Maybe<readonly Need[]>;
  run(probe: Probe): Promise<void>;
}

const NEEDS = {
  koine: { met: ({ koine }: Probe) => koine, reason: "a method of Koine, and this interface has none" },
  commands: {
    met: ({ commands }: Probe) => commands,
    reason: "the description has no skill tagged koine-conformance, so the agent does not understand the conformance commands",
  },
} as const;
type Need = keyof typeof NEEDS;

const WIRE = { version: VERSION, binding: "JSONRPC" } as const;

export function onAnp(requirements: readonly AnpRequirement[]): readonly Requirement[] {
  return requirements.map((requirement) =>
    toRequirement("anp:1.2", requirement, WIRE, async (subject) => {
      const probe = await probeOf(signing(subject));
      for (const need of requirement.needs ?? []) if (!NEEDS[need].met(probe)) skip(NEEDS[need].reason);
      await requirement.run(probe);
    }),
  );
}

/** With an identity, requests are signed as ANP does, and a challenge is answered once. */
function signing(subject: Subject): Subject {
  const identity = subject.caller?.identity;
  if (identity === undefined) return subject;
  const sign = (request: HttpRequest, nonce?: () => string): Awaitable<HttpHeaders> =>
    new MessageSigner({ profile: SIGNATURES, key: messageKeyOf(identity), now: Date.now, nonce }).request(request, request.body);
  return {
    ...subject,
    signer: { sign: (request) => sign(request) },
    async exchange(request) {
      const response = await subject.exchange(request);
      const { signature, "signature-input": input, "content-digest": _, ...headers } = request.headers;
      const nonce = signature === undefined ? undefined : readChallenge(response.headers["www-authenticate"])?.nonce;
      if (response.status !== 401 || nonce === undefined || input?.includes(ownKey(identity)) !== true) return response;
      await wholeBody(response.body, DEFAULT_LIMITS.bodyBytes);
      const unsigned = changeRequest(request, { headers });
      return subject.exchange(changeRequest(request, { headers: { ...headers, ...(await sign(unsigned, () => nonce)) } }));
    },
  };
}

/** Requests that a check signed in its own way are not signed again. */
const ownKey = ({ did }: Identity): string => `keyid="${did}`;

async function probeOf(subject: Subject): Promise<Probe> {
  const { url } = subject;
  const at = url.endsWith(`/${DESCRIPTION}`) ? url : `${url}${BASE}/${DESCRIPTION}`;
  const { status, json } = await ask(subject, { method: "GET", url: at });
  if (status !== 200 || !isObject(json) || json["protocolType"] !== "ANP") skip(`no agent description at ${at}`);
  const structured = interfacesIn(json).find(({ type, protocol }) => type === "StructuredInterface" && protocol === "openrpc");
  const named = structured?.["url"];
  const interfaceAt = typeof named === "string" && URL.canParse(named, at) ? new URL(named, at).href : undefined;
  const fetched = interfaceAt === undefined ? undefined : (await ask(subject, { method: "GET", url: interfaceAt })).json;
  const openrpc = isObject(structured?.["content"]) ? structured["content"] : isObject(fetched) ? fetched : undefined;
  const [server] = Array.isArray(openrpc?.["servers"]) ? (openrpc["servers"] as readonly unknown[]) : [];
  const endpoint = isObject(server) && typeof server["url"] === "string" ? server["url"] : "";
  const commands = JSON.stringify(json).includes(`"${CONFORMANCE_TAG}"`);
  return {
    subject,
    at,
    description: json,
    interfaceAt,
    openrpc,
    rpc: URL.canParse(endpoint, at) ? new URL(endpoint, at).href : "",
    koine: methodsIn(openrpc).some(({ name }) => name === METHODS.send),
    commands,
  };
}

export function interfacesIn({ interfaces }: JsonObject): readonly JsonObject[] {
  return Array.isArray(interfaces) ? (interfaces as readonly unknown[]).filter(isObject) : [];
}

export function methodsIn(openrpc: Maybe<JsonObject>): readonly JsonObject[] {
  const list = openrpc?.["methods"];
  return Array.isArray(list) ? (list as readonly unknown[]).filter(isObject) : [];
}

export type Change = Partial<Omit<RawRequest, "url" | "body">>;

/** Sends any text to the endpoint. */
export function postText(probe: Probe, body: string, change: Change = {}): Promise<RawResponse> {
  const headers = { "content-type": "application/json", ...change.headers };
  return ask(probe.subject, { method: "POST", url: probe.rpc, ...change, headers, body });
}

/** A call of a method. */
export function call(probe: Probe, method: string, params: JsonObject, change: Change = {}): Promise<RawResponse> {
  return postText(probe, JSON.stringify({ jsonrpc: "2.0", id: probe.subject.newId(), method, params }), change);
}

/** The result of a call that must succeed. */
export async function result(probe: Probe, method: string, params: JsonObject): Promise<JsonObject> {
  const got = await call(probe, method, params);
  const answer = demandObject(got.json, "the answer");
  demand(answer["error"] === undefined, `answered ${show(answer["error"])}`);
  return demandObject(answer["result"], "result");
}

/** The error of a call that must fail. */
export async function failure(got: RawResponse): Promise<JsonObject> {
  const answer = demandObject(got.json, "the answer");
  const error = demandObject(answer["error"], "error");
  demand(Number.isInteger(error["code"]) && typeof error["message"] === "string", `the error is ${show(error)}`);
  return error;
}

/** `koine.send` with a text. */
export function sending(text: string, more: JsonObject = {}): JsonObject {
  return { message: { parts: [{ text }] }, ...more };
}

/** The events of a streamed call. */
export async function events(probe: Probe, method: string, params: JsonObject): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for await (const { data } of await frames(probe, method, params)) {
    const message = demandObject(JSON.parse(data), "data");
    found.push(demandObject(demandObject(message["params"], "params")["event"], "event"));
  }
  return found;
}

/** The frames of a streamed call. */
export async function frames(probe: Probe, method: string, params: JsonObject): Promise<AsyncIterable<Frame>> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: probe.subject.newId(), method, params });
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const opened = await open(probe.subject, { method: "POST", url: probe.rpc, headers, body });
  demand(opened.status === 200, `answered ${opened.status}`);
  demand(opened.headers["content-type"]?.startsWith("text/event-stream") === true, `is ${opened.headers["content-type"]}`);
  return readFrames(opened.chunks);
}
