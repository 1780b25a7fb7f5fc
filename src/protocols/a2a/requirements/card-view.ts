import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { ask, type RawResponse } from "../../ask.js";
import { demand, type RequirementText, skip } from "../../check.js";
import { CONFORMANCE_TAG, type Subject } from "../../requirement.js";

/** The path of the card (A2A 1.0 §8.2), and the path up to 0.2. */
export const CARD_PATH = "/.well-known/agent-card.json";
export const OLD_CARD_PATH = "/.well-known/agent.json";

/** One interface of a card of any version. */
export interface ListedInterface {
  readonly url: string;
  readonly binding: string;
  /** Major and minor only. */
  readonly version: string;
  readonly tenant: Maybe<string>;
}

/** The members of a card that checks need. */
export interface CardView {
  readonly document: JsonObject;
  readonly got: RawResponse;
  readonly path: string;
  /** Written in the 1.0 form, with `supportedInterfaces`. */
  readonly modern: boolean;
  readonly interfaces: readonly ListedInterface[];
  readonly streaming: boolean;
  readonly push: boolean;
  readonly extended: boolean;
  /** The agent understands the conformance commands. */
  readonly commands: boolean;
  readonly demandsCredentials: boolean;
}

/** A requirement for the card. */
export interface CardRequirement extends RequirementText {
  run(card: CardView, subject: Subject): Promise<void> | void;
}

const observed = new WeakMap<Subject, Promise<CardView>>();

/** The card, fetched once per subject. Without one, checks of bindings are skipped; a separate check requires the card. */
export async function cardOf(subject: Subject): Promise<CardView> {
  const known = observed.get(subject) ?? fetchCard(subject);
  observed.set(subject, known);
  return known.catch((thrown: unknown) => skip(`no agent card: ${thrown instanceof Error ? thrown.message : thrown}`));
}

/** Requested in both versions: a server may return different cards, with different interfaces. */
async function fetchCard(subject: Subject): Promise<CardView> {
  const get = (path: string, version: string): Promise<RawResponse> =>
    ask(subject, { method: "GET", url: subject.url + path, headers: { "a2a-version": version } });
  const fresh = await get(CARD_PATH, "1.0");
  const path = fresh.status === 200 ? CARD_PATH : OLD_CARD_PATH;
  const got = fresh.status === 200 ? fresh : await get(OLD_CARD_PATH, "1.0");
  demand(got.status === 200, `${CARD_PATH} answers ${fresh.status}, ${OLD_CARD_PATH} answers ${got.status}`);
  const view = viewCard(got, path);
  const old = await get(path, "0.3");
  const more = isObject(old.json) ? interfacesOf(old.json) : [];
  return {
    ...view,
    interfaces: [...view.interfaces, ...more.filter((entry) => !view.interfaces.some((known) => sameAddress(known, entry)))],
  };
}

/** Reads a card of any version. Missing or invalid members are reported by the card checks. */
export function viewCard(got: RawResponse, path: string): CardView {
  demand(isObject(got.json), `${path} is not a JSON object`);
  const document = got.json;
  const capabilities = isObject(document["capabilities"]) ? document["capabilities"] : {};
  return {
    document,
    got,
    path,
    modern: listOf(document["supportedInterfaces"]).length > 0,
    interfaces: interfacesOf(document),
    streaming: capabilities["streaming"] === true,
    push: capabilities["pushNotifications"] === true,
    extended: capabilities["extendedAgentCard"] === true || document["supportsAuthenticatedExtendedCard"] === true,
    commands: listOf(document["skills"]).some(({ tags }) => Array.isArray(tags) && tags.includes(CONFORMANCE_TAG)),
    demandsCredentials: listOf(document["securityRequirements"] ?? document["security"]).length > 0,
  };
}

function interfacesOf(document: JsonObject): readonly ListedInterface[] {
  const found: ListedInterface[] = [];
  const add = (url: unknown, binding: unknown, version: unknown, tenant?: unknown): void => {
    if (typeof url !== "string" || typeof binding !== "string" || typeof version !== "string") return;
    const entry: ListedInterface = {
      url: url.replace(/\/$/, ""),
      binding: binding.toUpperCase(),
      version: version.split(".").slice(0, 2).join("."),
      tenant: typeof tenant === "string" && tenant !== "" ? tenant : undefined,
    };
    if (!found.some((known) => sameAddress(known, entry))) found.push(entry);
  };
  for (const entry of listOf(document["supportedInterfaces"]))
    add(entry["url"], entry["protocolBinding"], entry["protocolVersion"], entry["tenant"]);
  // The 0.3 members, alone or beside the 1.0 ones (A2A 0.3 §5.5).
  const old = document["protocolVersion"];
  add(document["url"], document["preferredTransport"] ?? "JSONRPC", old);
  for (const entry of listOf(document["additionalInterfaces"])) add(entry["url"], entry["transport"], old);
  return found;
}

function sameAddress(a: ListedInterface, b: ListedInterface): boolean {
  return a.url === b.url && a.binding === b.binding && a.version === b.version;
}

/** The objects of a list; empty for anything else. */
export function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
