import { AgentError, type ContentSeal, type Maybe, type OpenContentSeal, SEAL_KEY } from "../../envelope/index.js";

/** What is sealed in the mark of a store: who can open it has the right keys. */
const CHECK = "the content of this store is sealed";
const SUBJECT = { owner: "", taskId: "store" };
const PLACE = "mark";

/** How a store is opened. */
export interface SealOptions {
  /** Seals the content of tasks: `openStoreSeal(file)`. Default: it is stored in clear. */
  readonly seal?: Maybe<OpenContentSeal>;
  /** Only `records` is used: a sealed store is then opened without its keys. Default: false. */
  readonly recordsOnly?: Maybe<boolean>;
}

/** Where a store keeps that it is sealed, and with which keys. */
export interface SealMark {
  read(): Promise<Maybe<string>>;
  /** Adds the mark unless there is one, and returns the one that is there. */
  add(mark: string): Promise<string>;
  hasTasks(): Promise<boolean>;
}

/**
 * The seal of a store, after checking that its keys are those that the store is sealed with. A store with tasks in clear is not sealed
 * unless they are accepted: afterwards nobody could tell which of them were there before.
 */
export async function sealOf(mark: SealMark, { seal: open, recordsOnly = false }: SealOptions): Promise<Maybe<ContentSeal>> {
  const known = await mark.read();
  if (open === undefined) {
    if (known === undefined || recordsOnly) return undefined;
    throw refused("is sealed, and can be opened with the file of its keys only");
  }
  const seal = await open(known !== undefined);
  try {
    if (known === undefined && !seal.acceptsClear && (await mark.hasTasks()))
      throw refused("has tasks that are not sealed: use another store, or accept what is not sealed in this one");
    const kept = known ?? (await mark.add(seal.seal(CHECK, SUBJECT, PLACE)));
    if (seal.open(kept, SUBJECT, PLACE) !== CHECK) throw refused("has a damaged mark of its seal");
    return seal;
  } catch (thrown) {
    seal.close();
    const { facts, message } = AgentError.from(thrown);
    if (facts.field !== SEAL_KEY) throw thrown;
    throw refused(`${message.slice(message.indexOf("is sealed"))}; all processes need the same file of keys`);
  }
}

function refused(problem: string): AgentError {
  return new AgentError("invalid_message", `the task store ${problem}`, { field: "seal", sent: "no" });
}
