import { type DeploymentName, protocols } from "../../src/public/protocols.js";
import { type Need, profileGaps } from "../config/index.js";
import { usageError } from "./exit.js";

interface ProfileOptions {
  readonly profile?: DeploymentName;
  readonly host: string;
  readonly publicUrl?: string;
  readonly tlsCert?: string;
  readonly clientCa?: string;
  readonly openToEverybody?: boolean;
  readonly audit?: string;
  readonly metrics?: "admin" | "admitted";
  readonly cardKey?: readonly string[];
  readonly data?: string;
  readonly store?: string;
}

/** The option that meets a need. */
const FIXES: { readonly [need in Need]: string } = {
  tls: "--tls-cert and --tls-key, or a proxy on this machine and an https --public-url",
  clientCertificates: "--client-ca FILE",
  authentication: "--token-file FILE, or another authentication option",
  closed: "omit --open-to-everybody",
  upstreamTls: "https URLs",
  operatorView: "--metrics instead of --metrics admitted",
  audit: "--audit FILE",
  signedCards: "--card-key FILE",
  durable: "--data DIR or --store URL",
};

/** Throws a usage error with every `must` that is missing for the profile; returns a warning for every `should`. */
export function checkProfile(options: ProfileOptions, authentication: boolean): readonly string[] {
  const { profile, publicUrl, cardKey = [] } = options;
  if (profile === undefined) return [];
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(options.host);
  const gaps = profileGaps(profile, {
    protocols,
    isLocal: isLoopback && publicUrl === undefined,
    tls: options.tlsCert !== undefined || (isLoopback && publicUrl?.startsWith("https:") === true),
    clientCertificates: options.clientCa !== undefined,
    authentication,
    openToEverybody: options.openToEverybody === true,
    audit: options.audit !== undefined,
    operatorViewShared: options.metrics === "admitted",
    signedCards: cardKey.length > 0,
    durable: options.data !== undefined || options.store !== undefined,
    clearUpstreams: [],
  });
  const lines = gaps.map(({ level, need, means }) => ({ level, text: `${means}: ${FIXES[need]}` }));
  const missing = lines.filter(({ level }) => level === "must").map(({ text }) => text);
  if (missing.length > 0) throw usageError([`--profile ${profile} requires`, ...missing].join("\n  "));
  return lines.map(({ text }) => `profile ${profile} recommends ${text}`);
}
