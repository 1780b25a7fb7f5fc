import type { CredentialPlaces } from "./plan-schema.js";

/** Whom a program of ours calls: an address, the way to speak there, and where the credentials are. Never what they are. */
export interface Callee {
  readonly url: string;
  readonly pin: string;
  readonly credentials?: CredentialPlaces | undefined;
}

/** What a program of ours is told to do, on its command line: it holds no secret. */
export type ChildTask =
  | {
      readonly kind: "agent";
      readonly id: string;
      /** Absent for the echo of a demo. */
      readonly file?: string | undefined;
      readonly pin: string;
      readonly port: number;
      /** Relative names of files with secrets begin here. */
      readonly folder: string;
      readonly credentials?: CredentialPlaces | undefined;
      readonly peers: { readonly [id: string]: Callee };
    }
  | {
      readonly kind: "bridge";
      /** The module behind it. */
      readonly name: string;
      readonly pin: string;
      readonly port: number;
      readonly folder: string;
      /** What callers have to show to it. */
      readonly credentials?: CredentialPlaces | undefined;
      readonly to: Callee;
    };

/** What it says to whoever started it. */
export type ChildMessage = { readonly listening: number } | { readonly failed: string };
