import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { MemberPath } from "../config/index.js";
import type { GatewayConfig } from "./config.js";
import type { Complaints } from "./config-problem.js";
import type { SecretPlace } from "./config-values.js";

/** No key, certificate, token file or secret is larger. */
const FILE_BYTES = 1024 * 1024;

/** Reads what a configuration names. What cannot be read is complained about where it is named, and never shown. */
export class Materials {
  readonly complaints: Complaints;
  readonly warnings: string[] = [];
  readonly #config: GatewayConfig;

  constructor(config: GatewayConfig) {
    this.#config = config;
    this.complaints = config.complaints();
  }

  path(name: string): string {
    return resolve(this.#config.folder, name);
  }

  async file(name: string | undefined, path: MemberPath): Promise<string | undefined> {
    if (name === undefined) return undefined;
    try {
      const facts = await stat(this.path(name));
      if (facts.isFile() && facts.size <= FILE_BYTES) return await readFile(this.path(name), "utf8");
      this.complaints.add(path, `names ${name}, which is no file of at most ${FILE_BYTES / 1024} KiB`);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException; // what the file system throws has one
      this.complaints.add(path, `names ${name}, which cannot be read (${code ?? "unknown reason"})`);
    }
    return undefined;
  }

  /** A file that nobody else should read; whether somebody can is said. */
  async secretFile(name: string | undefined, path: MemberPath): Promise<string | undefined> {
    const text = await this.file(name, path);
    if (text === undefined || name === undefined) return undefined;
    const { mode } = await stat(this.path(name));
    if ((mode & 0o044) !== 0) this.warnings.push(`others on this machine can read ${name}: chmod 600 ${name}`);
    return text;
  }

  async secret(place: SecretPlace | undefined, path: MemberPath): Promise<string | undefined> {
    if (place === undefined) return undefined;
    const found = "env" in place ? this.#config.env[place.env] : await this.secretFile(place.file, [...path, "file"]);
    const secret = found?.trim();
    if (secret !== undefined && secret !== "") return secret;
    if ("env" in place) this.complaints.add([...path, "env"], `names ${place.env}, and that environment variable is not set`);
    else if (secret === "") this.complaints.add([...path, "file"], `names ${place.file}, and there is nothing in it`);
    return undefined;
  }
}
