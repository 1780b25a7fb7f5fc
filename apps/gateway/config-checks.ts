import type { Maybe } from "../../src/index.js";
import { type MemberPath, settingProblems } from "../config/index.js";
import { addressKey, DEFAULT_HOST, DEFAULT_PORT, isLoopbackHost, localUrl } from "./addresses.js";
import { type AgentConfig, agentsOf } from "./config.js";
import type { ConfigProblems } from "./config-problem.js";
import type { ConfigDocument } from "./config-schema.js";
import { isDid } from "./config-values.js";

/** Checks beyond the schema: conflicting members and unknown names. */
export function checkConfig(document: ConfigDocument, fromEnvironment: ReadonlySet<string>, problems: ConfigProblems): void {
  const agents = agentsOf(document);
  checkListening(document, problems);
  checkAgents(document, agents, problems);
  checkCallers(document, agents, problems);
  checkOpenings(document, agents, problems);
  checkStore(document, agents, fromEnvironment, problems);
  checkSettings(document, problems);
  checkAdmin(document, problems);
}

/** Whether any authentication method is configured. */
export function requiresAuthentication({ auth = {}, listen }: ConfigDocument): boolean {
  const { tokens, apiKeys, jwt, dids } = auth;
  return [tokens, apiKeys, jwt, dids, listen?.tls?.clientCa].some((method) => method !== undefined);
}

const INSTEAD = { host: "listen on 127.0.0.1", publicUrl: "remove it", trustedProxies: "remove it" } as const;

/** The member of `listen` that lets callers of other machines in. Undefined if none does. */
function exposedBy({ listen = {} }: ConfigDocument): Maybe<keyof typeof INSTEAD> {
  if (!isLoopbackHost(listen.host ?? DEFAULT_HOST)) return "host";
  if (listen.publicUrl !== undefined && !isLoopbackHost(new URL(listen.publicUrl).hostname)) return "publicUrl";
  return listen.trustedProxies === undefined ? undefined : "trustedProxies";
}

function checkListening(document: ConfigDocument, problems: ConfigProblems): void {
  const { listen = {}, auth, cardKeys = [] } = document;
  const exposed = exposedBy(document);
  if (exposed !== undefined && !requiresAuthentication(document) && listen.openToEverybody !== true)
    problems.add(
      ["listen", exposed],
      `accepts remote callers without authentication: configure auth, or set openToEverybody: true, or ${INSTEAD[exposed]}`,
    );
  if (exposed !== undefined && auth?.loopback !== undefined)
    problems.add(
      ["auth", "loopback"],
      `requires a listener for this machine alone, and listen.${exposed} lets others in: behind a proxy every caller looks like one on this machine`,
    );
  if (exposed !== undefined && cardKeys.length > 0 && listen.publicUrl === undefined)
    problems.add(["cardKeys"], "require listen.publicUrl: signed cards contain the gateway's public address");
  if (listen.tls?.crl !== undefined && listen.tls.clientCa === undefined)
    problems.add(["listen", "tls", "crl"], "requires clientCa: without it no client certificates are requested");
  for (const member of ["gateways", "tenants"] as const)
    if (auth?.[member] !== undefined && !requiresAuthentication(document))
      problems.add(["auth", member], "names callers, but no authentication is configured under auth");
  if (auth?.apiKeyIn !== undefined && auth.apiKeys === undefined) problems.add(["auth", "apiKeyIn"], "requires apiKeys");
}

/** What the operator sees belongs to all callers: it needs a listener that authenticates. */
function checkAdmin(document: ConfigDocument, problems: ConfigProblems): void {
  const { inspect, page, metrics, admin } = document;
  const authenticates = requiresAuthentication(document);
  if (inspect === false && page === true) problems.add(["page"], "requires inspect, which is off");
  if (admin === false && page === true) problems.add(["page"], "requires admin, which is off");
  if (admin === false && metrics === true) problems.add(["metrics"], "requires admin, which is off");
  if (metrics === "admitted" && !authenticates)
    problems.add(["metrics"], "would be public: no authentication is configured under auth");
  if (typeof admin !== "object") return;
  if (admin.readers === "admitted" && !authenticates)
    problems.add(["admin", "readers"], "would be public: no authentication is configured under auth");
  if (admin.listener !== "callers") {
    if (admin.host !== undefined && !isLoopbackHost(admin.host) && admin.tls === undefined && admin.clearText !== true)
      problems.add(["admin", "host"], "requires admin.tls: without it the token can be read on the network (or clearText: true)");
    return;
  }
  for (const member of ["port", "host", "publicUrl", "tls", "clearText"] as const)
    if (admin[member] !== undefined)
      problems.add(["admin", member], "belongs to a listener of its own, not to the callers' port");
}

function checkAgents(document: ConfigDocument, agents: readonly AgentConfig[], problems: ConfigProblems): void {
  const { listen = {}, cardKeys = [] } = document;
  const own = ownAddresses(listen);
  const names = new Set<string>();
  for (const [index, { name, path, upstreams, card, learn }] of agents.entries()) {
    const agent = document.agents[index];
    if (names.has(name)) problems.add([...path, "name"], `is a duplicate: another agent is named ${name}`);
    names.add(name);
    if (card === "rewrite+resign" && cardKeys.length === 0) problems.add([...path, "card"], "requires cardKeys to sign with");
    if (card === "verbatim" && listen.publicUrl === undefined)
      problems.add([...path, "card"], "requires listen.publicUrl: a verbatim card must point to this gateway");
    if (agent?.policies?.select !== undefined && upstreams.length === 1)
      problems.add([...path, "policies", "select"], "requires more than one upstream");
    const ids = new Set<string>();
    for (const { id, url, pin, path: urlPath } of upstreams) {
      if (ids.has(id)) problems.add([...urlPath.slice(0, -1), "id"], `is a duplicate: another upstream is named ${id}`);
      ids.add(id);
      if (learn !== undefined && pin !== undefined)
        problems.add([...path, agent?.learn === undefined ? "name" : "learn"], `has no effect with pin: ${id} has one interface`);
      if (own.has(addressKey(url))) problems.add(urlPath, "is the address of this gateway, which would call itself in a loop");
    }
  }
}

/** Forwarding callers' tokens requires authenticated callers, and excludes a credential of the gateway itself. */
function checkCallers(document: ConfigDocument, agents: readonly AgentConfig[], problems: ConfigProblems): void {
  const reported = new Set<string>();
  const reportOnce = (path: MemberPath, message: string): void => {
    const key = JSON.stringify(path);
    // A problem in defaults is reported once, not per agent.
    if (!reported.has(key)) problems.add(path, message);
    reported.add(key);
  };
  for (const { mode, callers, callersPath, upstreams } of agents) {
    if (callers === "own") continue;
    if (mode === "adopt" && !requiresAuthentication(document))
      reportOnce(callersPath, "forwards callers' tokens without authenticating callers: configure auth");
    for (const { url, path } of upstreams)
      if (isDid(url)) problems.add(path, "must be a URL: the credentials of callers are sent to a configured address only");
    for (const { credentials, credentialPath } of upstreams)
      if (credentials.oauth2 !== undefined)
        reportOnce(
          [...credentialPath, "oauth2"],
          "conflicts with callers: this agent receives callers' tokens, not the gateway's own",
        );
  }
}

/** An opening for an upstream that does not exist is a typing error. */
function checkOpenings({ openings = [] }: ConfigDocument, agents: readonly AgentConfig[], problems: ConfigProblems): void {
  const known = agents.flatMap(({ name, upstreams }) => [
    name,
    ...(upstreams.length === 1 ? [] : upstreams.map(({ id }) => `${name}/${id}`)),
  ]);
  for (const [index, { upstream }] of openings.entries())
    if (!known.includes(upstream)) problems.add(["openings", index, "upstream"], `is unknown; available: ${known.join(", ")}`);
}

function ownAddresses({
  port = DEFAULT_PORT,
  host = DEFAULT_HOST,
  publicUrl,
}: NonNullable<ConfigDocument["listen"]>): ReadonlySet<string> {
  const addresses = publicUrl === undefined ? [] : [addressKey(publicUrl)];
  return new Set(port === 0 ? addresses : [...addresses, addressKey(localUrl(host, port))]);
}

function checkStore(
  { store = "memory", secret }: ConfigDocument,
  agents: readonly AgentConfig[],
  fromEnvironment: ReadonlySet<string>,
  problems: ConfigProblems,
): void {
  if (store === "memory") return;
  if ("redis" in store && !fromEnvironment.has(JSON.stringify(["store", "redis"])) && new URL(store.redis).password !== "")
    problems.add(["store", "redis"], "holds a password: take the whole URL from an environment variable");
  if (secret === undefined && agents.some(({ mode }) => mode === "adopt"))
    problems.add(
      ["store"],
      "is persistent and requires a persistent secret to pseudonymize callers: set secret: { file: PATH } or { env: NAME }",
    );
}

function checkSettings({ settings = {} }: ConfigDocument, problems: ConfigProblems): void {
  for (const { path, problem } of settingProblems(settings)) problems.add(path, problem);
}
