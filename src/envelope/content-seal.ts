import type { AgentError } from "./error.js";

/** The task that a content belongs to. Sealed content of another task, or of another owner's, is refused. */
export interface ContentSubject {
  readonly owner: string;
  readonly taskId: string;
}

/**
 * Encrypts what a store keeps. Who can read the store learns nothing but lengths; who can write it cannot change a text, or put it in the
 * place of another, without being noticed.
 */
export interface ContentSeal {
  /** Texts that are not sealed are read, too. False: they are refused. */
  readonly acceptsClear: boolean;
  /** Seals a text of a task for one place there. The same input has the same result: a repeated write equals the first. */
  seal(text: string, subject: ContentSubject, place: string): string;
  /** Throws AgentError: `internal`, with the field `SEAL_KEY` if the key is not there; else the text was changed or moved. */
  open(sealed: string, subject: ContentSubject, place: string): string;
  /** A digest that nobody without the key can compute. The same for all keys of one file. */
  digest(text: string): string;
  /** Counts content of a subject that is not as it was written, and returns the error to throw. */
  refuse(subject: ContentSubject, problem: string): AgentError;
  /** How often that happened in this process. */
  readonly refused: number;
  /** The store is closed. */
  close(): void;
}

/** The field of errors about content that cannot be opened here, and may be elsewhere: its key is missing. */
export const SEAL_KEY = "seal.key";

/** Opens the seal of a store. `isSealed`: the store has sealed content already, so that its keys exist. */
export type OpenContentSeal = (isSealed: boolean) => Promise<ContentSeal>;

/** What every sealed text begins with. No JSON does. */
export const SEALED_TEXT = "sealed1.";
