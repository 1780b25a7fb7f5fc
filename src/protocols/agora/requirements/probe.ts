import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { type Ask, ask, type Got } from "../../ask.js";
import { type DutyText, demand, demandString, show, skip, toRequirement } from "../../duty.js";
import { CONFORMANCE_TAG, type Requirement, type Subject } from "../../requirement.js";
import { DIALECTS, type Dialect } from "../wire.js";
import { isReply, type Reply, readReply } from "./reply.js";

/** Our own discovery document; nobody else defines one. */
export const OWN_PATH = "/.well-known/agora";
export const SPEC_PATH = "/.wellknown";
export const DEMO_PATH = "/wellknown";
/** One card for the readers of every protocol (seed G.5). */
const CARD_PATH = "/.well-known/agent.json";

/** What a check works with. */
export interface Probe {
  readonly subject: Subject;
  readonly dialect: Dialect;
  /** Where a message goes that only Agora may answer, however wrong it is. */
  readonly url: string;
  /** The discovery document that only a Koine server has. */
  readonly own: Maybe<JsonObject>;
  /** The agent behind it does what our conformance agent does. */
  readonly commands: boolean;
  /** Hashes that discovery lists, each with its sources. */
  readonly listed: ReadonlyMap<string, readonly string[]>;
}

/** One duty of a server. */
export interface AgoraDuty extends DutyText {
  /** Those whose servers have it; all without it. */
  readonly dialects?: Maybe<readonly Dialect[]>;
  readonly needs?: Maybe<readonly Need[]>;
  run(probe: Probe): Promise<void>;
}

const NEEDS = {
  koine: { met: ({ own }: Probe) => own !== undefined, reason: "an extension of Koine, and this is no Koine server" },
  commands: {
    met: ({ commands }: Probe) => commands,
    reason: "discovery shows no skill tagged koine-conformance, so the agent cannot be told what to do",
  },
  listed: { met: ({ listed }: Probe) => listed.size > 0, reason: "discovery lists no protocol document" },
  credentials: {
    met: ({ subject }: Probe) => Object.keys(subject.headers).length > 0,
    reason: "no credentials were given, so the difference cannot be seen",
  },
} as const;
export type Need = keyof typeof NEEDS;

const WIRE = { version: "0.2", binding: "HTTP" } as const;

/** The duties as requirements; those of another dialect, or without what they need, are skipped with the reason. */
export function onAgora(duties: readonly AgoraDuty[]): readonly Requirement[] {
  return duties.map((duty) =>
    toRequirement("agora:0.2", duty, WIRE, async (subject) => {
      const probe = await probeOf(subject);
      if (duty.dialects?.includes(probe.dialect) === false) skip(`the dialect "${probe.dialect}" does not have it`);
      for (const need of duty.needs ?? []) if (!NEEDS[need].met(probe)) skip(NEEDS[need].reason);
      await duty.run(probe);
    }),
  );
}

/** Finds out which dialect is spoken without sending a message; skips what shows nothing of Agora. */
export async function probeOf(subject: Subject): Promise<Probe> {
  const paths = [OWN_PATH, SPEC_PATH, DEMO_PATH, CARD_PATH];
  const [own, spec, demo, card] = await Promise.all(paths.map((path) => discovered(subject, path)));
  const commands = JSON.stringify([own, card]).includes(`"${CONFORMANCE_TAG}"`);
  const base = { subject, url: `${subject.url}/`, own: undefined, commands, listed: listedIn(spec) };
  if (own?.["koine"] === 1) {
    const dialect = DIALECTS.find((each) => each === own["dialect"]) ?? "python";
    return { ...base, dialect, own, url: `${subject.url}/agora` };
  }
  if (spec !== undefined) return { ...base, dialect: "spec" };
  if (demo?.["status"] === "success") return { ...base, dialect: "demo", listed: listedIn(demo["protocols"]) };
  const proof = await ask(subject, { method: "DELETE", url: conversationUrl(subject, subject.newId()) }).catch(() => undefined);
  if (isObject(proof?.json) && proof.json["status"] === "success") return { ...base, dialect: "python" };
  return skip("nothing at this address answers as Agora does");
}

async function discovered(subject: Subject, path: string): Promise<Maybe<JsonObject>> {
  const got = await ask(subject, { method: "GET", url: subject.url + path });
  return got.status === 200 && isObject(got.json) ? got.json : undefined;
}

/** Hash to sources; what is wrong in it is for the checks of discovery to find. */
export function listedIn(value: unknown): ReadonlyMap<string, readonly string[]> {
  const entries = Object.entries(isObject(value) ? value : {});
  return new Map(entries.map(([hash, sources]) => [hash, Array.isArray(sources) ? sources.map(String) : []]));
}

export function conversationUrl({ url }: Pick<Subject, "url">, id: string): string {
  return `${url}/conversations/${id}`;
}

/** A request as a check may bend it. */
export type Change = Partial<Omit<Ask, "body">>;

/** The members of a first message in natural language, as the library's sender writes them. */
export function natural(body: unknown, more: JsonObject = {}): JsonObject {
  return { protocolHash: null, protocolSources: [], body: body as JsonObject["body"], ...more }; // checks may send any JSON
}

/** Sends members as JSON to where messages go, or to the address given. */
export function post(probe: Probe, members: JsonObject, change: Change = {}): Promise<Got> {
  return postText(probe, JSON.stringify(members), change);
}

/** Sends any bytes as the body of a message. */
export function postText(probe: Probe, body: string | Uint8Array, change: Change = {}): Promise<Got> {
  const headers = { "content-type": "application/json", ...change.headers };
  return ask(probe.subject, { method: "POST", url: probe.url, ...change, headers, body });
}

/** The same, with the reply read. */
export async function say(probe: Probe, members: JsonObject, change: Change = {}): Promise<Reply> {
  return readReply(await post(probe, members, change));
}

/** A message that must succeed; an agent without a voice for natural language ends the check. */
export async function talk(probe: Probe, text = "hello", more: JsonObject = {}, change: Change = {}): Promise<Reply> {
  const reply = await say(probe, natural(text, more), change);
  if (reply.status !== "success" && /language model/i.test(reply.text)) skip(`it speaks no natural language: ${reply.text}`);
  demand(reply.status === "success", `answered ${show(reply.json)}`);
  return reply;
}

/** An open conversation in natural language; ends a check of a server that has none. */
export async function openConversation(
  probe: Probe,
  text = "hello",
  more: JsonObject = {},
): Promise<Reply & { readonly id: string }> {
  const reply = await talk(probe, text, { multiround: true, ...more });
  if (reply.conversationId === undefined && probe.dialect !== "python") skip("it opens no conversations");
  return { ...reply, id: demandString(reply.conversationId, "conversationId") };
}

/** A further message of a conversation, with all members repeated, as the library's sender does. */
export function further(probe: Probe, id: string, text: string, more: JsonObject = {}): Promise<Reply> {
  return say(probe, natural(text, { multiround: true, ...more }), { url: conversationUrl(probe.subject, id) });
}

export async function remove(probe: Probe, id: string, change: Change & { readonly body?: string } = {}): Promise<Got> {
  return ask(probe.subject, { method: "DELETE", url: conversationUrl(probe.subject, id), ...change });
}

/** Refused in a form that a reader of Agora understands, and not as a fault of the server. */
export function demandRefused(got: Got): Reply {
  demand(isReply(got), `answered ${got.status} ${show(got.json ?? got.text)}, which is no reply of Agora`);
  const reply = readReply(got);
  demand(reply.status !== "success", `it was taken: ${show(reply.json)}`);
  demand(got.status < 500, `answered ${got.status}: the server blames itself`);
  return reply;
}

/** An ordinary message is still answered, in whatever way. */
export async function stillServes(probe: Probe): Promise<void> {
  const got = await post(probe, natural("hello"));
  demand(isReply(got), `afterwards it answered ${got.status} ${show(got.json ?? got.text)}`);
}
