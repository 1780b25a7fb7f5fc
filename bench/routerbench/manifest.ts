import { basename } from "node:path";
import { FILES, MANIFEST, type Manifest, type ManifestInput, type Role } from "./folder.js";
import { type BenchSettings, MODES } from "./plan.js";
import { ABLATIONS, AgentError } from "./router.js";
import { HALVES } from "./split.js";

/** The members of a manifest that a verification uses; the others are computed again and compared. */
export type ReadManifest = Pick<Manifest, "koine" | "stamped" | "settings" | "inputs" | "files">;

const ROLES: readonly Role[] = ["scenarios", "train", "ranking", "prompt"];

/** Parses a manifest from an untrusted file. Throws AgentError if it is invalid. */
export function parseManifest(text: string): ReadManifest {
  const document = objectIn(parse(text), "");
  if (document["schema"] !== 1) throw unreadable("schema", "is not 1");
  const stamped = document["stamped"];
  return {
    koine: textIn(document["koine"], "koine"),
    ...(stamped === undefined ? {} : { stamped: textIn(stamped, "stamped") }),
    settings: settingsIn(objectIn(document["settings"], "settings")),
    inputs: listIn(document["inputs"], "inputs").map(inputIn),
    files: listIn(document["files"], "files").map((item, index) => {
      const { name, ...rest } = fileIn(item, `files[${index}]`);
      return { name: oneOf(name, FILES, `files[${index}].name`), ...rest };
    }),
  };
}

function settingsIn(settings: Members): BenchSettings {
  const names = (key: string): readonly string[] =>
    listIn(settings[key], `settings.${key}`).map((item) => textIn(item, `settings.${key}`));
  const { model, embeddings, seed = 0, temperature = 0, split = null } = settings;
  if (typeof seed !== "number" || typeof temperature !== "number") throw unreadable("settings", "has a seed that is no number");
  return {
    modes: names("modes").map((name) => oneOf(name, MODES, "settings.modes")),
    ablate: names("ablate").map((name) => oneOf(name, ABLATIONS, "settings.ablate")),
    embeddings: embeddings === true,
    ranking: names("ranking"),
    model: model === null ? null : textIn(model, "settings.model"),
    seed,
    temperature,
    split: split === null ? null : oneOf(textIn(split, "settings.split"), HALVES, "settings.split"),
  };
}

function inputIn(item: unknown, index: number): ManifestInput {
  const at = `inputs[${index}]`;
  const { role, commit = null } = objectIn(item, at);
  const facts = { role: oneOf(textIn(role, `${at}.role`), ROLES, `${at}.role`), ...fileIn(item, at) };
  return facts.role === "scenarios" ? { ...facts, commit: commit === null ? null : textIn(commit, `${at}.commit`) } : facts;
}

function fileIn(item: unknown, at: string): { readonly name: string; readonly bytes: number; readonly sha256: string } {
  const { name, bytes, sha256 } = objectIn(item, at);
  const plain = textIn(name, `${at}.name`);
  // A name with a way in it would lead out of the folder.
  if (plain !== basename(plain) || plain === "") throw unreadable(`${at}.name`, "is not a plain name");
  if (typeof bytes !== "number") throw unreadable(`${at}.bytes`, "is not a number");
  return { name: plain, bytes, sha256: textIn(sha256, `${at}.sha256`) };
}

type Members = { readonly [key: string]: unknown };

function objectIn(value: unknown, at: string): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unreadable(at, "is not an object");
  return { ...value };
}

function listIn(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unreadable(at, "is not a list");
  return value;
}

function textIn(value: unknown, at: string): string {
  if (typeof value !== "string") throw unreadable(at, "is not text");
  return value;
}

function oneOf<T extends string>(value: string, known: readonly T[], at: string): T {
  const found = known.find((each) => each === value);
  if (found === undefined) throw unreadable(at, "has a value that is not known");
  return found;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable("", "is not JSON");
  }
}

function unreadable(at: string, problem: string): AgentError {
  return new AgentError("invalid_message", `${MANIFEST} cannot be used: ${at === "" ? "it" : at} ${problem}`);
}
