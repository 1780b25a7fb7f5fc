import { AgentError, type Maybe } from "../../envelope/index.js";
import { isLoopbackAddress } from "../../transport/loopback.js";
import { addressClass } from "../address.js";
import type { DidMethod } from "./did-method.js";
import { DID_DOCUMENT_LIMITS, readDidDocument } from "./read-did-document.js";

const DOCUMENT_MS = 5_000;
/** A host name in lower case, so that a DID has one spelling, and a port. */
const HOST = /^((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*)(?:%3A([1-9]\d{0,4}))?$/;
const SEGMENT =
  /^(?:[A-Za-z0-9_~-]|\.(?!\.?$)|%(?!2[EeFf]|5[Cc]|00)[0-9A-Fa-f]{2})(?:[A-Za-z0-9._~-]|%(?!2[Ff]|5[Cc]|00)[0-9A-Fa-f]{2})*$/;

/** Options of `didWeb`. */
export interface DidWebOptions {
  /** Fetch documents of `localhost` and loopback addresses by http. Default: false; every document is fetched by https. */
  readonly httpForLoopback?: Maybe<boolean>;
}

/** `did:web`: the document is at a URL that the DID names (w3c-ccg.github.io/did-method-web). */
export function didWeb(options: DidWebOptions = {}): DidMethod {
  return {
    method: "web",
    async resolve(did, fetch, now) {
      const url = didWebUrl(did, options);
      if (url === undefined) throw new AgentError("bad_peer", `${did.slice(0, 200)} is not a valid did:web`, { sent: "no" });
      return readDidDocument(await fetch(url, { bytes: DID_DOCUMENT_LIMITS.bytes, timeoutMs: DOCUMENT_MS }), did, now);
    },
  };
}

/** Where the document of a did:web is published. Undefined if the DID is invalid, or its host is an address. */
export function didWebUrl(did: string, { httpForLoopback = false }: DidWebOptions = {}): Maybe<string> {
  const [, method, host = "", ...path] = did.split(":");
  const [, name = "", port] = HOST.exec(host) ?? [];
  if (method !== "web" || name === "" || Number(port ?? 1) > 65_535 || !path.every((segment) => SEGMENT.test(segment)))
    return undefined;
  const clear = httpForLoopback && (name === "localhost" || isLoopbackAddress(name));
  if (addressClass(name) !== undefined && !clear) return undefined;
  const origin = `${clear ? "http" : "https"}://${name}${port === undefined ? "" : `:${port}`}`;
  // The URL parser reads other spellings of an address, such as one number, as that address.
  if (!URL.canParse(origin) || new URL(origin).hostname !== name) return undefined;
  return path.length === 0 ? `${origin}/.well-known/did.json` : `${origin}/${path.join("/")}/did.json`;
}

/** The did:web of an address: `https://agents.example/support` is `did:web:agents.example:support`. */
export function didWebOf(url: string): Maybe<string> {
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, pathname } = new URL(url);
  const segments = pathname.split("/").filter((segment) => segment !== "");
  const did = ["did:web", port === "" ? hostname : `${hostname}%3A${port}`, ...segments].join(":");
  return didWebUrl(did, { httpForLoopback: true }) === undefined ? undefined : did;
}
