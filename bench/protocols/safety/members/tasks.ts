import type { Deployment } from "../../../../src/public/protocols.js";
import type { KnownRecord } from "../../processes/tasks.js";
import type { Pair } from "../certificates/authority.js";

/** What the processes of a target are told, and what they answer. Both sides are of this benchmark. */

/** A registered protocol, or one of the two controls. */
export type TargetKind = { readonly kind: "protocol"; readonly protocol: string } | { readonly kind: "open" | "hardened" };

/** Where the registration gateway is. */
export interface RegistryAddress {
  readonly url: string;
  /** Allows to register and to read the directory. */
  readonly token: string;
  readonly ca: string;
}

export interface RegistryTask {
  readonly token: string;
  /** Undefined: in clear. */
  readonly tls: Pair | undefined;
}

/** A doctor as the directory lists it. */
export interface DirectoryEntry {
  readonly name: string;
  /** A URL, or a DID that leads to one. */
  readonly address: string;
}

/** Who may call a doctor. The members that the deployment does not use are empty. */
export interface Callers {
  /** Bearer tokens by holder. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly dids: readonly string[];
  /** Of the hardened control: the key that messages are sealed with, in hexadecimal. */
  readonly key: string;
}

export interface DoctorTask {
  readonly target: TargetKind;
  readonly row: Deployment;
  readonly name: string;
  readonly publicUrl: string;
  readonly registry: RegistryAddress;
  readonly tls: (Pair & { readonly clientCa: string; readonly crl: string }) | undefined;
  readonly callers: Callers;
  readonly identity: { readonly file: string; readonly records: readonly KnownRecord[] } | undefined;
}

export interface DoctorStarted {
  readonly port: number;
}

/** One set of credentials. */
export interface Credentials {
  readonly token: string | undefined;
  /** The file of an identity. */
  readonly identity: string | undefined;
  readonly key: string | undefined;
  readonly certificate: Pair | undefined;
}

/** `coordinator`: admitted. `next`: after a rotation. `other`: somebody else's. */
export const CALLERS = ["coordinator", "next", "other"] as const;
export type CallerName = (typeof CALLERS)[number];

export interface CoordinatorTask {
  readonly target: TargetKind;
  readonly row: Deployment;
  readonly registry: RegistryAddress;
  readonly trust: { readonly ca: string; readonly crl: string };
  readonly records: readonly KnownRecord[];
  readonly credentials: Readonly<Record<CallerName, Credentials>>;
}

/** What is injected into the live send path of one message. */
export interface Injection {
  /** Added to the clock of the sender. */
  readonly skewMs?: number;
  /** Sent twice, byte for byte. */
  readonly duplicate?: boolean;
  /** Made and signed, and not sent. */
  readonly withhold?: boolean;
  /** Changed after it was signed. */
  readonly tamper?: "body" | "query";
}

export interface SendOrder {
  readonly doctor: string;
  readonly text: string;
  readonly as: CallerName;
  /** Over a connection of its own, with discovery. */
  readonly fresh: boolean;
  readonly inject: Injection;
}

/** A request as it left, and what came back. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly answers: readonly RawAnswer[];
}

/** An answer to a request, or why there is none. */
export interface RawAnswer {
  /** Undefined: no HTTP answer. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  /** The codes and texts of the errors, outermost first. */
  readonly errors?: readonly string[] | undefined;
  /** The peer ended the connection without a byte. */
  readonly closed?: boolean | undefined;
}

export interface SendReport {
  readonly answer: string | undefined;
  /** Codes and texts, outermost first. */
  readonly errors: readonly string[];
  readonly requests: readonly SentRequest[];
}

export interface RelayTask {
  /** Presented to callers. Undefined: in clear. */
  readonly tls: Pair | undefined;
  /** Where it passes requests on to. */
  readonly port: number;
  readonly upstream: { readonly ca: string; readonly certificate: Pair } | undefined;
}

/** The codes and texts of an error and its causes. */
export function errorsOf(thrown: unknown): readonly string[] {
  const found: string[] = [];
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth++) {
    const code = "code" in error && typeof error.code === "string" ? `${error.code}: ` : "";
    found.push(`${code}${error.message}`.slice(0, 300));
  }
  return found.length === 0 ? [String(thrown).slice(0, 300)] : found;
}
