import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { ask, type Got } from "../../ask.js";
import { type DutyText, demand, skip } from "../../duty.js";
import { CONFORMANCE_TAG, type Subject } from "../../requirement.js";

/** Where an agent says what it is (A2A 1.0 §8.2), and where it said so up to 0.2. */
export const CARD_PATH = "/.well-known/agent-card.json";
export const OLD_CARD_PATH = "/.well-known/agent.json";

/** One address from the card, whichever generation wrote it. */
export interface ListedInterface {
  readonly url: string;
  readonly binding: string;
  /** Major and minor only. */
  readonly version: string;
  readonly tenant: Maybe<string>;
}

/** What the checks need to know of a card. */
export interface CardView {
  readonly document: JsonObject;
  readonly got: Got;
  readonly path: string;
  /** Written in the 1.0 form, with `supportedInterfaces`. */
  readonly modern: boolean;
  readonly interfaces: readonly ListedInterface[];
  readonly streaming: boolean;
  readonly push: boolean;
  readonly extended: boolean;
  /** The probing commands are understood. */
  readonly commands: boolean;
  readonly demandsCredentials: boolean;
}

/** A duty of the card itself. */
export interface CardDuty extends DutyText {
  run(card: CardView, subject: Subject): Promise<void> | void;
}

const seen = new WeakMap<Subject, Promise<CardView>>();

/** The card, fetched once per subject. Checks of a wire are skipped without one; that it is there is a check of its own. */
export async function cardOf(subject: Subject): Promise<CardView> {
  const known = seen.get(subject) ?? fetchCard(subject);
  seen.set(subject, known);
  return known.catch((thrown: unknown) => skip(`no agent card to go by: ${thrown instanceof Error ? thrown.message : thrown}`));
}

/** Asked for in both versions: a server may write its card for the version that asks, and list different interfaces. */
async function fetchCard(subject: Subject): Promise<CardView> {
  const get = (path: string, version: string): Promise<Got> =>
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

/** Reads a card of either generation; members that are missing or wrong are for the card's own checks to find. */
export function viewCard(got: Got, path: string): CardView {
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

/** The objects of a list; anything else counts as none. */
export function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
