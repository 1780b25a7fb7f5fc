import { readFile, stat } from "node:fs/promises";
import type { Server, TlsOptions } from "../../src/index.js";
import type { AuditSink } from "../../src/public/auth.js";
import { usageError } from "./exit.js";
import { problemOf } from "./problem.js";

export interface TlsFiles {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly clientCa?: string;
}

/** How often the files are looked at: certificates are renewed days before they end. */
const LOOK_EVERY_MS = 30_000;

/** The certificate and key to serve with. Undefined: in clear. */
export async function readTls({ tlsCert, tlsKey, clientCa }: TlsFiles): Promise<TlsOptions | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) {
    if (clientCa !== undefined) throw usageError("--client-ca is of no use without TLS", "Give --tls-cert and --tls-key too.");
    return undefined;
  }
  if (tlsCert === undefined || tlsKey === undefined)
    throw usageError("TLS needs a certificate and its key", "Give both --tls-cert and --tls-key.");
  const [cert, key] = await Promise.all([readPem(tlsCert, "--tls-cert"), readPem(tlsKey, "--tls-key")]);
  return { cert, key, ...(clientCa === undefined ? {} : { clientCa: await readPem(clientCa, "--client-ca") }) };
}

export async function readPem(path: string, option: string): Promise<string> {
  return readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    throw usageError(`${option}: ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
}

interface Telling {
  say(line: string): void;
  readonly audit: AuditSink | undefined;
}

/** Takes a renewed certificate into use: on SIGHUP, and when the files have changed. Streams go on. */
export function keepTlsFresh(files: TlsFiles, server: Server, { say, audit }: Telling): () => void {
  let seen = "";
  let looking = false;

  async function look(reload: boolean): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      const now = await changeOf(files);
      const changed = reload || (seen !== "" && now !== seen);
      seen = now;
      const tls = changed ? await readTls(files) : undefined;
      if (tls === undefined) return;
      server.reload(tls);
      say("The certificate was read anew and is in use.");
      note("key.reloaded", "the certificate files have changed");
    } catch (thrown) {
      const { message } = problemOf(thrown);
      say(`The certificate was not taken into use, the old one still is: ${message}`);
      note("refused", message);
    } finally {
      looking = false;
    }
  }

  function note(event: "key.reloaded" | "refused", why: string): void {
    audit?.record({
      at: new Date().toISOString(),
      event,
      who: "operator",
      what: `the certificate ${files.tlsCert}`,
      reason: why,
    });
  }

  const onHangUp = (): void => void look(true);
  process.on("SIGHUP", onHangUp);
  const timer = setInterval(() => void look(false), LOOK_EVERY_MS).unref();
  void look(false);
  return () => {
    process.off("SIGHUP", onHangUp);
    clearInterval(timer);
  };
}

async function changeOf({ tlsCert, tlsKey, clientCa }: TlsFiles): Promise<string> {
  const files = [tlsCert, tlsKey, clientCa].filter((path) => path !== undefined);
  const times = await Promise.all(files.map(async (path) => (await stat(path)).mtimeMs));
  return times.join(" ");
}
