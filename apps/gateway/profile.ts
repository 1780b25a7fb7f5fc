import type { Maybe } from "../../src/index.js";
import type { DeploymentName } from "../../src/public/protocols.js";
import {
  isClearBeyondLoopback,
  listenerInterfaces,
  type MemberPath,
  type Need,
  type ProfileFacts,
  profileGaps,
  profileLimits,
} from "../config/index.js";
import { DEFAULT_HOST, isLoopbackHost } from "./addresses.js";
import { requiresAuthentication } from "./config-checks.js";
import type { ConfigProblems } from "./config-problem.js";
import type { ConfigDocument } from "./config-schema.js";

/** The member that meets a need, and what to write there. */
const FIXES: { readonly [need in Need]: readonly [path: MemberPath, fix: string] } = {
  tls: [["listen"], "set listen.tls, or listen on 127.0.0.1 behind a proxy with an https publicUrl"],
  clientCertificates: [["listen"], "set listen.tls.clientCa"],
  authentication: [["auth"], "configure auth"],
  closed: [["listen", "openToEverybody"], "remove it"],
  upstreamTls: [["agents"], "use https URLs"],
  operatorView: [["admin"], "set neither admin.listener: callers nor metrics: admitted"],
  audit: [["audit"], "set audit: FILE"],
  signedCards: [["cardKeys"], "set cardKeys"],
  durable: [["store"], "set store"],
};

/** With what it may leave behind, a caller has 75 of the 100 tasks that an upstream of Koine runs for one caller, the gateway. */
const RECOMMENDED_CALLS_PER_CALLER = 50;

/** The document with its profile and the limits of that profile; those in the document win. */
export function withProfile(document: ConfigDocument, wanted: Maybe<DeploymentName>): ConfigDocument {
  const profile = wanted ?? document.profile;
  if (profile === undefined) return document;
  const { limits, taskLimits } = profileLimits(profile);
  return {
    ...document,
    profile,
    ...(limits === undefined ? {} : { limits: { ...limits, ...document.limits } }),
    ...(taskLimits === undefined ? {} : { taskLimits: { ...taskLimits, ...document.taskLimits } }),
    ...(profile === "recommended" ? { defaults: { callsPerCaller: RECOMMENDED_CALLS_PER_CALLER, ...document.defaults } } : {}),
  };
}

/** Every `must` that is missing for the profile is a problem. */
export function checkProfile(document: ConfigDocument, problems: ConfigProblems): void {
  for (const { need, level, means } of gapsOf(document)) {
    const [path, fix] = FIXES[need];
    if (level === "must") problems.add(path, `lacks what profile ${document.profile} requires, ${means}: ${fix}`);
  }
}

/** Every `should` that is missing. */
export function profileWarnings(document: ConfigDocument): readonly string[] {
  return gapsOf(document)
    .filter(({ level }) => level === "should")
    .map(({ need, means }) => `profile ${document.profile} recommends ${means}: ${FIXES[need][1]}`);
}

function gapsOf(document: ConfigDocument): ReturnType<typeof profileGaps> {
  return document.profile === undefined ? [] : profileGaps(document.profile, factsOf(document));
}

function factsOf(document: ConfigDocument): ProfileFacts {
  const { listen = {}, agents, store = "memory", cardKeys = [], audit, admin, metrics } = document;
  const isLoopback = isLoopbackHost(listen.host ?? DEFAULT_HOST);
  const urls = agents.flatMap(({ upstream, upstreams = [] }) => [upstream ?? "", ...upstreams.map(({ url }) => url)]);
  return {
    protocols: listenerInterfaces(document.as),
    isLocal: isLoopback && listen.publicUrl === undefined,
    tls: listen.tls !== undefined || (isLoopback && listen.publicUrl?.startsWith("https:") === true),
    clientCertificates: listen.tls?.clientCa !== undefined,
    authentication: requiresAuthentication(document),
    openToEverybody: listen.openToEverybody === true,
    audit: audit !== undefined,
    operatorViewShared: metrics === "admitted" || (typeof admin === "object" && admin.listener === "callers"),
    signedCards: cardKeys.length > 0,
    durable: store !== "memory",
    clearUpstreams: urls.filter(isClearBeyondLoopback),
  };
}
