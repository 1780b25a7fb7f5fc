import { mkdir, open } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Part } from "../../src/index.js";
import { CliError, EXIT } from "./exit.js";
import { extensionOf } from "./media-type.js";

type RawPart = Extract<Part, { readonly kind: "raw" }>;

const NAME_CHARS = 120;
/** How many files of one name may lie in the folder before we give up. */
const SAME_NAME = 1_000;

/**
 * A name for a file out of a name from elsewhere: the last piece of any path in it, without what shells, terminals and
 * file systems treat specially, and never hidden.
 */
export function safeName(name: string | undefined, mediaType: string | undefined): string {
  const last = (name ?? "").split(/[/\\]/).at(-1) ?? "";
  const plain = last
    .replace(/[^\p{L}\p{N} ._()+-]/gu, "_")
    .replace(/^[.\s-]+/, "")
    .replace(/[.\s]+$/, "");
  if (plain === "") return `part${extensionOf(mediaType)}`;
  // Names some file systems keep for devices.
  const named = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(plain) ? `_${plain}` : plain;
  const extension = extname(named).slice(0, 16);
  return named.length <= NAME_CHARS ? named : named.slice(0, NAME_CHARS - extension.length) + extension;
}

/** Writes the part into the folder under a safe name of its own; nothing that is there already is touched. */
export async function savePart(part: RawPart, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const name = safeName(part.name, part.mediaType);
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  for (let number = 1; number <= SAME_NAME; number++) {
    const path = join(folder, number === 1 ? name : `${stem}-${number}${extension}`);
    // `wx` neither overwrites nor follows a link.
    const handle = await open(path, "wx").catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === "EEXIST") return undefined;
      throw new CliError(EXIT.failure, `cannot write ${path} (${thrown.code ?? "unknown reason"})`);
    });
    if (handle === undefined) continue;
    try {
      await handle.writeFile(part.bytes);
      return path;
    } finally {
      await handle.close();
    }
  }
  throw new CliError(EXIT.failure, `${folder} has ${SAME_NAME} files called ${name} already`);
}
