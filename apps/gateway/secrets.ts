import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { MemberPath } from "../config/index.js";
import type { GatewayConfig } from "./config.js";
import type { ConfigProblems } from "./config-problem.js";
import type { SecretReference } from "./config-values.js";

/** Size limit for keys, certificates, token files and secrets. */
const FILE_BYTES = 1024 * 1024;

/** Reads referenced files and secrets. Problems are collected with their positions; values are never shown. */
export class SecretReader {
  readonly problems: ConfigProblems;
  readonly warnings: string[] = [];
  readonly #config: GatewayConfig;

  constructor(config: GatewayConfig) {
    this.#config = config;
    this.problems = config.newProblems();
  }

  path(name: string): string {
    return resolve(this.#config.folder, name);
  }

  async file(name: string | undefined, path: MemberPath): Promise<string | undefined> {
    if (name === undefined) return undefined;
    try {
      const facts = await stat(this.path(name));
      if (facts.isFile() && facts.size <= FILE_BYTES) return await readFile(this.path(name), "utf8");
      this.problems.add(path, `references ${name}, which is not a file of at most ${FILE_BYTES / 1024} KiB`);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException; // file system errors have one
      this.problems.add(path, `references ${name}, which cannot be read (${code ?? "unknown reason"})`);
    }
    return undefined;
  }

  /** Reads a private file; warns if other users can read it. */
  async secretFile(name: string | undefined, path: MemberPath): Promise<string | undefined> {
    const text = await this.file(name, path);
    if (text === undefined || name === undefined) return undefined;
    const { mode } = await stat(this.path(name));
    if ((mode & 0o044) !== 0) this.warnings.push(`${name} is readable by other users: chmod 600 ${name}`);
    return text;
  }

  async secret(reference: SecretReference | undefined, path: MemberPath): Promise<string | undefined> {
    if (reference === undefined) return undefined;
    const found = "env" in reference ? this.#config.env[reference.env] : await this.secretFile(reference.file, [...path, "file"]);
    const secret = found?.trim();
    if (secret !== undefined && secret !== "") return secret;
    if ("env" in reference)
      this.problems.add([...path, "env"], `references the environment variable ${reference.env}, which is not set`);
    else if (secret === "") this.problems.add([...path, "file"], `references ${reference.file}, which is empty`);
    return undefined;
  }
}
