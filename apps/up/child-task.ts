import type { LinkSwitches } from "./link-features.js";
import type { CredentialReferences, PlanSettings } from "./plan-schema.js";

/** A peer that a child process calls: address, interface and credential references, never the credentials. */
export interface Callee {
  readonly url: string;
  /** What it is called by instead of its URL, and has to prove. */
  readonly did?: string | undefined;
  readonly pin: string;
  readonly credentials?: CredentialReferences | undefined;
  /** The features of the link. */
  readonly switches: LinkSwitches;
}

/** The task of a child process, passed on its command line: it contains no secrets. */
export type ChildTask =
  | {
      readonly kind: "agent";
      readonly id: string;
      /** Absent for the echo agent of a demo module. */
      readonly file?: string | undefined;
      readonly pin: string;
      readonly port: number;
      /** Base directory of relative secret files. */
      readonly folder: string;
      readonly credentials?: CredentialReferences | undefined;
      /** The file of its identity. */
      readonly identity?: string | undefined;
      /** The DIDs that it admits, instead of credentials. */
      readonly admits?: readonly string[] | undefined;
      readonly settings: PlanSettings;
      readonly peers: { readonly [id: string]: Callee };
      /** The features of the module itself. */
      readonly switches: LinkSwitches;
    }
  | {
      readonly kind: "bridge";
      /** The upstream module. */
      readonly name: string;
      readonly pin: string;
      readonly port: number;
      readonly folder: string;
      /** Credentials that callers must present. */
      readonly credentials?: CredentialReferences | undefined;
      readonly settings: PlanSettings;
      readonly to: Callee;
      /** The features of the links that it serves. */
      readonly switches: LinkSwitches;
    };

/** A message from a child process to its supervisor. */
export type ChildMessage = { readonly listening: number } | { readonly failed: string };
