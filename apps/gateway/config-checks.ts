import { protocols } from "../../src/public/protocols.js";
import type { MemberPath } from "../config/index.js";
import { addressText, DEFAULT_HOST, DEFAULT_PORT, homeOf, isLoopbackHost } from "./addresses.js";
import { type AgentConfig, agentsOf } from "./config.js";
import type { Complaints } from "./config-problem.js";
import type { ConfigDocument } from "./config-schema.js";
import { nearestOf } from "./schema-problems.js";

/** What the form alone does not show: members that do not go together, and names that nothing here has. */
export function checkConfig(document: ConfigDocument, fromEnvironment: ReadonlySet<string>, complaints: Complaints): void {
  const agents = agentsOf(document);
  checkListening(document, complaints);
  checkAgents(document, agents, complaints);
  checkCallers(document, agents, complaints);
  checkStore(document, agents, fromEnvironment, complaints);
  checkSettings(document, complaints);
  if (document.inspect === false && document.page !== undefined && document.page !== false)
    complaints.add(["page"], "shows messages, and inspect is off");
}

/** Whether anybody has to show who they are. */
export function knowsCallers({ auth = {}, listen }: ConfigDocument): boolean {
  const { tokens, apiKeys, jwt } = auth;
  return [tokens, apiKeys, jwt, listen?.tls?.clientCa].some((way) => way !== undefined);
}

function checkListening(document: ConfigDocument, complaints: Complaints): void {
  const { listen = {}, auth, cardKeys = [], metrics, page } = document;
  const beyond = !isLoopbackHost(listen.host ?? DEFAULT_HOST);
  if (beyond && !knowsCallers(document) && listen.openToEverybody !== true)
    complaints.add(
      ["listen", "host"],
      "is open to others, and nobody asks who they are: say so under auth, or set openToEverybody: true, or listen on 127.0.0.1",
    );
  if (beyond && cardKeys.length > 0 && listen.publicUrl === undefined)
    complaints.add(["cardKeys"], "need listen.publicUrl: the address that is signed must be the gateway's own");
  if (auth?.apiKeyIn !== undefined && auth.apiKeys === undefined)
    complaints.add(["auth", "apiKeyIn"], "says where keys are, and there are no apiKeys");
  if (metrics === "admitted" && beyond && !knowsCallers(document))
    complaints.add(["metrics"], "would be open to everybody: nobody asks callers who they are");
  if (typeof page === "object" && page.look === "admitted" && !knowsCallers(document))
    complaints.add(["page", "look"], "would let everybody look: nobody asks callers who they are");
}

function checkAgents(document: ConfigDocument, agents: readonly AgentConfig[], complaints: Complaints): void {
  const { listen = {}, cardKeys = [] } = document;
  const own = ownPlaces(listen);
  const names = new Set<string>();
  for (const [index, { name, path, upstreams, card }] of agents.entries()) {
    const agent = document.agents[index];
    if (names.has(name)) complaints.add([...path, "name"], `is ${name}, as another agent's is`);
    names.add(name);
    if (card === "rewrite+resign" && cardKeys.length === 0)
      complaints.add([...path, "card"], "is to be signed anew, and there are no cardKeys");
    if (card === "verbatim" && listen.publicUrl === undefined)
      complaints.add([...path, "card"], "can only stay as it is where listen.publicUrl says what leads to this gateway");
    if (agent?.policies?.select !== undefined && upstreams.length === 1)
      complaints.add([...path, "policies", "select"], "chooses among several upstreams, and there is one");
    const ids = new Set<string>();
    for (const { id, url, path: place } of upstreams) {
      if (ids.has(id)) complaints.add([...place.slice(0, -1), "id"], `is ${id}, as another upstream's is`);
      ids.add(id);
      if (own.has(addressText(url))) complaints.add(place, "is this very gateway: it would call itself for ever");
    }
  }
}

/** Callers' tokens can go on only where there are callers, and no credential of the gateway's own stands in their place. */
function checkCallers(document: ConfigDocument, agents: readonly AgentConfig[], complaints: Complaints): void {
  const told = new Set<string>();
  const complain = (path: MemberPath, message: string): void => {
    const place = JSON.stringify(path);
    // What defaults say is wrong once, for however many agents.
    if (!told.has(place)) complaints.add(path, message);
    told.add(place);
  };
  for (const { mode, callers, callersPath, upstreams } of agents) {
    if (callers === "own") continue;
    if (mode === "adopt" && !knowsCallers(document))
      complain(callersPath, "lets callers' tokens go on, and nobody asks callers who they are: say so under auth");
    for (const { credentials, credentialPath } of upstreams)
      if (credentials.oauth2 !== undefined)
        complain([...credentialPath, "oauth2"], "is a credential of the gateway's own, and callers' tokens go to this agent");
  }
}

function ownPlaces({
  port = DEFAULT_PORT,
  host = DEFAULT_HOST,
  publicUrl,
}: NonNullable<ConfigDocument["listen"]>): ReadonlySet<string> {
  const places = publicUrl === undefined ? [] : [addressText(publicUrl)];
  return new Set(port === 0 ? places : [...places, addressText(homeOf(host, port))]);
}

function checkStore(
  { store = "memory", secret }: ConfigDocument,
  agents: readonly AgentConfig[],
  fromEnvironment: ReadonlySet<string>,
  complaints: Complaints,
): void {
  if (store === "memory") return;
  if ("redis" in store && !fromEnvironment.has(JSON.stringify(["store", "redis"])) && new URL(store.redis).password !== "")
    complaints.add(["store", "redis"], "holds a password: take it from the environment, as a whole");
  if (secret === undefined && agents.some(({ mode }) => mode === "adopt"))
    complaints.add(
      ["store"],
      "outlives this process, and so must the secret that names of callers are veiled with: set secret: { file: PATH } or { env: NAME }",
    );
}

function checkSettings({ settings = {} }: ConfigDocument, complaints: Complaints): void {
  for (const [id, given] of Object.entries(settings)) {
    const protocol = protocols.find((each) => each.id === id);
    if (protocol === undefined) {
      complaints.add(["settings", id], `is no protocol here; there are: ${protocols.map((each) => each.id).join(", ")}`);
      continue;
    }
    const known = (protocol.settings ?? []).map(({ name }) => name);
    for (const name of Object.keys(given)) {
      if (known.includes(name)) continue;
      const near = nearestOf(name, known);
      const words = known.length === 0 ? `${id} has no settings` : `there are: ${known.join(", ")}`;
      complaints.add(["settings", id, name], `is not known; ${near === undefined ? words : `did you mean ${near}?`}`);
    }
  }
}
