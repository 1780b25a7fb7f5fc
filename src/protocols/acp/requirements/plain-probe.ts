import { isObject, type JsonObject } from "../../../envelope/index.js";
import { isEventStream } from "../../../transport/body.js";
import { open, type RawResponse, whole } from "../../ask.js";
import { demand, demandArray, demandObject, demandString, type RequirementText, show, skip, toRequirement } from "../../check.js";
import { readFrames } from "../../frames.js";
import type { Requirement, Subject } from "../../requirement.js";
import { type Change, findAgent, get, type Probe, post } from "./probe.js";

/** A requirement for the seed's plain endpoints. */
export interface PlainRequirement extends RequirementText {
  /** Needs an agent that understands the conformance commands. */
  readonly commanded?: true;
  run(probe: Probe): Promise<void>;
}

const WIRE = { version: "0.2", binding: "PLAIN" } as const;

/** The requirements. All are skipped if the server has none of the endpoints, as with official servers. */
export function onPlain(requirements: readonly PlainRequirement[]): readonly Requirement[] {
  return requirements.map((requirement) =>
    toRequirement("acp:0.2:plain", requirement, WIRE, async (subject) => {
      const probe = await plainProbe(subject);
      if (requirement.commanded && !probe.commands)
        skip("no agent has the tag koine-conformance, so none understands the conformance commands");
      await requirement.run(probe);
    }),
  );
}

async function plainProbe(subject: Subject): Promise<Probe> {
  const probe = await findAgent(subject);
  const answers = await Promise.all(["/acp/status", "/acp/capabilities"].map((path) => get(probe, path)));
  const isThere = answers.some(({ status, json }) => status === 200 && isObject(json));
  return isThere ? probe : skip("the server has none of the plain endpoints of the seed");
}

/** The sections that define them. */
export const G2 = "seed G.2";
export const G7 = "seed G.7";

/** A request as seed G.7 shows it. */
export function request(probe: Probe, text: string, more: JsonObject = {}): JsonObject {
  return {
    id: probe.subject.newId(),
    type: "request",
    sender: "conformance",
    ...(probe.agent === "" ? {} : { receiver: probe.agent }),
    payload: { text },
    timestamp: 1_767_323_045,
    ...more,
  };
}

/** A request whose payload the check provides. */
export function bare(probe: Probe, more: JsonObject): JsonObject {
  const { payload: _, ...rest } = request(probe, "");
  return { ...rest, ...more };
}

export function command(probe: Probe, body: JsonObject, change: Change = {}): Promise<RawResponse> {
  return post(probe, "/acp/message", body, change);
}

/** The reply to a request that must succeed. */
export async function replyTo(probe: Probe, body: JsonObject): Promise<JsonObject> {
  const got = await command(probe, body);
  demand(got.status === 200, `answered ${got.status} ${show(got.json ?? got.text)}`);
  return demandObject(got.json, "the reply");
}

/** An accepted job. */
export async function accepted(probe: Probe, body: JsonObject): Promise<JsonObject> {
  const got = await command(probe, body);
  demand(got.status === 202, `answered ${got.status} ${show(got.json ?? got.text)}`);
  return demandObject(got.json, "the reply");
}

export const ASYNC = { metadata: { async: true } } as const;

export async function statusOf(probe: Probe, runId: unknown): Promise<JsonObject> {
  const got = await get(probe, `/acp/status?run_id=${runId}`);
  demand(got.status === 200, `GET /acp/status?run_id= answers ${got.status} ${show(got.json)}`);
  return demandObject(got.json, "the status");
}

const LOOKS = 100;
const PAUSE_MS = 30;

/** Polls a job until it ends, a bounded number of times. */
export async function overIn(probe: Probe, runId: unknown): Promise<JsonObject> {
  let observed = await statusOf(probe, runId);
  for (let look = 1; look < LOOKS && !/^(completed|failed|cancelled)$/.test(String(observed["status"])); look++) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    observed = await statusOf(probe, runId);
  }
  return observed;
}

/** The text of all results. */
export function resultText(reply: JsonObject): string {
  const results = demandArray(reply["results"], "results").map((result) => demandObject(result, "results[]"));
  return results.map(({ content }) => (typeof content === "string" ? content : "")).join("");
}

/** An error in the seed's format: a code that begins with E_, a text, and the id it belongs to. */
export function demandPlainError(got: RawResponse, statuses: readonly number[]): JsonObject {
  demand(statuses.includes(got.status), `answered ${got.status} ${show(got.json ?? got.text)}`);
  const error = demandObject(demandObject(got.json, "the answer")["error"], "error");
  demand(/^E_[A-Z]+$/.test(String(error["code"])), `code is ${show(error["code"])}`);
  demandString(error["message"], "message");
  return error;
}

/** The content of a result stream. */
export async function streamOf(
  probe: Probe,
  body: JsonObject,
  headers: { readonly [name: string]: string },
): Promise<readonly JsonObject[]> {
  const opened = await open(probe.subject, {
    method: "POST",
    url: `${probe.subject.url}/acp/message`,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  if (!isEventStream(opened.headers["content-type"])) {
    const got = await whole(opened);
    demand(false, `no stream came back: ${got.status} ${show(got.json ?? got.text)}`);
  }
  const items: JsonObject[] = [];
  for await (const { data } of readFrames(opened.chunks)) items.push(demandObject(JSON.parse(data), "data"));
  return items;
}
