import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { ask, type RawRequest, type RawResponse } from "../../ask.js";
import { demand, demandString, type RequirementText, show, skip, toRequirement } from "../../check.js";
import { CONFORMANCE_TAG, type Requirement, type Subject } from "../../requirement.js";
import { DIALECTS, type Dialect } from "../wire.js";
import { isReply, type Reply, readReply } from "./reply.js";

/** The Koine discovery document; no other implementation defines one. */
export const OWN_PATH = "/.well-known/agora";
export const SPEC_PATH = "/.wellknown";
export const DEMO_PATH = "/wellknown";
/** The agent card for readers of every protocol (seed G.5). */
const CARD_PATH = "/.well-known/agent.json";

/** The context of a check. */
export interface Probe {
  readonly subject: Subject;
  readonly dialect: Dialect;
  /** A message endpoint that only Agora answers, even to invalid requests. */
  readonly url: string;
  /** The discovery document of Koine servers. */
  readonly koine: Maybe<JsonObject>;
  /** The agent understands the commands of the conformance agent. */
  readonly commands: boolean;
  /** The hashes that discovery lists, with their sources. */
  readonly listed: ReadonlyMap<string, readonly string[]>;
}

/** One requirement for servers. */
export interface AgoraRequirement extends RequirementText {
  /** The dialects it applies to. Default: all. */
  readonly dialects?: Maybe<readonly Dialect[]>;
  readonly needs?: Maybe<readonly Need[]>;
  run(probe: Probe): Promise<void>;
}

const NEEDS = {
  koine: { met: ({ koine }: Probe) => koine !== undefined, reason: "a Koine extension, and this is not a Koine server" },
  commands: {
    met: ({ commands }: Probe) => commands,
    reason: "discovery shows no skill tagged koine-conformance, so the agent does not understand the conformance commands",
  },
  listed: { met: ({ listed }: Probe) => listed.size > 0, reason: "discovery lists no protocol document" },
  credentials: {
    met: ({ subject }: Probe) => Object.keys(subject.headers).length > 0,
    reason: "no credentials were given, so the difference cannot be observed",
  },
} as const;
export type Need = keyof typeof NEEDS;

const WIRE = { version: "0.2", binding: "HTTP" } as const;

/** The requirements. Those of another dialect, or without their preconditions, are skipped with the reason. */
export function onAgora(requirements: readonly AgoraRequirement[]): readonly Requirement[] {
  return requirements.map((requirement) =>
    toRequirement("agora:0.2", requirement, WIRE, async (subject) => {
      const probe = await probeOf(subject);
      if (requirement.dialects?.includes(probe.dialect) === false) skip(`the dialect "${probe.dialect}" does not have it`);
      for (const need of requirement.needs ?? []) if (!NEEDS[need].met(probe)) skip(NEEDS[need].reason);
      await requirement.run(probe);
    }),
  );
}

/** Determines the dialect without sending a message. Skips servers without any sign of Agora. */
export async function probeOf(subject: Subject): Promise<Probe> {
  const paths = [OWN_PATH, SPEC_PATH, DEMO_PATH, CARD_PATH];
  const [koine, spec, demo, card] = await Promise.all(paths.map((path) => discovered(subject, path)));
  const commands = JSON.stringify([koine, card]).includes(`"${CONFORMANCE_TAG}"`);
  const base = { subject, url: `${subject.url}/`, koine: undefined, commands, listed: listedIn(spec) };
  if (koine?.["koine"] === 1) {
    const dialect = DIALECTS.find((each) => each === koine["dialect"]) ?? "python";
    return { ...base, dialect, koine, url: `${subject.url}/agora` };
  }
  if (spec !== undefined) return { ...base, dialect: "spec" };
  if (demo?.["status"] === "success") return { ...base, dialect: "demo", listed: listedIn(demo["protocols"]) };
  const proof = await ask(subject, { method: "DELETE", url: conversationUrl(subject, subject.newId()) }).catch(() => undefined);
  if (isObject(proof?.json) && proof.json["status"] === "success") return { ...base, dialect: "python" };
  return skip("no Agora server at this address");
}

async function discovered(subject: Subject, path: string): Promise<Maybe<JsonObject>> {
  const got = await ask(subject, { method: "GET", url: subject.url + path });
  return got.status === 200 && isObject(got.json) ? got.json : undefined;
}

/** Hash to sources. Invalid entries are reported by the discovery checks. */
export function listedIn(value: unknown): ReadonlyMap<string, readonly string[]> {
  const entries = Object.entries(isObject(value) ? value : {});
  return new Map(entries.map(([hash, sources]) => [hash, Array.isArray(sources) ? sources.map(String) : []]));
}

export function conversationUrl({ url }: Pick<Subject, "url">, id: string): string {
  return `${url}/conversations/${id}`;
}

/** A request that a check may modify. */
export type Change = Partial<Omit<RawRequest, "body">>;

/** A first message in natural language, as the Python library writes it. */
export function natural(body: unknown, more: JsonObject = {}): JsonObject {
  return { protocolHash: null, protocolSources: [], body: body as JsonObject["body"], ...more }; // checks may send any JSON
}

/** Sends members as JSON to the message endpoint, or to the given URL. */
export function post(probe: Probe, members: JsonObject, change: Change = {}): Promise<RawResponse> {
  return postText(probe, JSON.stringify(members), change);
}

/** Sends arbitrary bytes as the body of a message. */
export function postText(probe: Probe, body: string | Uint8Array, change: Change = {}): Promise<RawResponse> {
  const headers = { "content-type": "application/json", ...change.headers };
  return ask(probe.subject, { method: "POST", url: probe.url, ...change, headers, body });
}

/** The same, with the reply decoded. */
export async function say(probe: Probe, members: JsonObject, change: Change = {}): Promise<Reply> {
  return readReply(await post(probe, members, change));
}

/** A message that must succeed. Skips agents that do not support natural language. */
export async function sendMessage(probe: Probe, text = "hello", more: JsonObject = {}, change: Change = {}): Promise<Reply> {
  const reply = await say(probe, natural(text, more), change);
  if (reply.status !== "success" && /language model/i.test(reply.text)) skip(`natural language is not supported: ${reply.text}`);
  demand(reply.status === "success", `answered ${show(reply.json)}`);
  return reply;
}

/** Opens a conversation in natural language. Skips servers without conversations. */
export async function openConversation(
  probe: Probe,
  text = "hello",
  more: JsonObject = {},
): Promise<Reply & { readonly id: string }> {
  const reply = await sendMessage(probe, text, { multiround: true, ...more });
  if (reply.conversationId === undefined && probe.dialect !== "python") skip("the server opens no conversations");
  return { ...reply, id: demandString(reply.conversationId, "conversationId") };
}

/** A further message of a conversation, with all members repeated, as the library's sender does. */
export function further(probe: Probe, id: string, text: string, more: JsonObject = {}): Promise<Reply> {
  return say(probe, natural(text, { multiround: true, ...more }), { url: conversationUrl(probe.subject, id) });
}

export async function remove(probe: Probe, id: string, change: Change & { readonly body?: string } = {}): Promise<RawResponse> {
  return ask(probe.subject, { method: "DELETE", url: conversationUrl(probe.subject, id), ...change });
}

/** Requires an Agora error that is not a server error. */
export function demandRefused(got: RawResponse): Reply {
  demand(isReply(got), `answered ${got.status} ${show(got.json ?? got.text)}, which is not an Agora reply`);
  const reply = readReply(got);
  demand(reply.status !== "success", `it was accepted: ${show(reply.json)}`);
  demand(got.status < 500, `answered ${got.status}: server error`);
  return reply;
}

/** Requires that an ordinary message is still answered. */
export async function stillServes(probe: Probe): Promise<void> {
  const got = await post(probe, natural("hello"));
  demand(isReply(got), `afterwards it answered ${got.status} ${show(got.json ?? got.text)}`);
}
