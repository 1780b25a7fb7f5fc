import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { ask } from "../../ask.js";
import { type RequirementText, skip } from "../../check.js";
import type { Subject } from "../../requirement.js";
import { BINDING, EXTENSION_URI } from "../wire.js";

/** What a check knows of the endpoint. Nobody in its registry vouches for who runs the checks: they are about what it refuses. */
export interface Probe {
  readonly subject: Subject;
  readonly card: JsonObject;
  /** The DID that the card names. */
  readonly did: string;
  /** Where messages are sent. */
  readonly url: string;
}

export interface SageRequirement extends RequirementText {
  run(probe: Probe): Promise<void>;
}

const CARD = "/.well-known/agent-card.json";

export async function probeOf(subject: Subject): Promise<Probe> {
  const { status, json } = await ask(subject, { method: "GET", url: `${subject.url}${CARD}` });
  if (status !== 200 || !isObject(json)) skip(`no agent card at ${subject.url}${CARD}`);
  const extensions = isObject(json["capabilities"]) ? json["capabilities"]["extensions"] : undefined;
  const own = (Array.isArray(extensions) ? (extensions as readonly unknown[]) : [])
    .filter(isObject)
    .find(({ uri }) => uri === EXTENSION_URI);
  if (own === undefined) skip("the card does not declare SAGE");
  const did = isObject(own["params"]) ? own["params"]["did"] : undefined;
  return { subject, card: json, did: typeof did === "string" ? did : "", url: addressIn(json) ?? subject.url };
}

export function addressIn({ supportedInterfaces }: JsonObject): Maybe<string> {
  const listed = Array.isArray(supportedInterfaces) ? (supportedInterfaces as readonly unknown[]).filter(isObject) : [];
  const url = listed.find(({ protocolBinding }) => protocolBinding === BINDING)?.["url"];
  return typeof url === "string" ? url : undefined;
}
