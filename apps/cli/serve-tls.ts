import { readFile, stat } from "node:fs/promises";
import type { Server, TlsOptions } from "../../src/index.js";
import type { AuditSink } from "../../src/public/auth.js";
import { usageError } from "./exit.js";
import { problemOf } from "./problem.js";

export interface TlsFiles {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly clientCa?: string;
  readonly clientCrl?: string;
}

/** How often the files are checked: certificates are renewed days before they expire. */
const POLL_MS = 30_000;

/** The certificate and key to serve with. Undefined without TLS. */
export async function readTls({ tlsCert, tlsKey, clientCa, clientCrl }: TlsFiles): Promise<TlsOptions | undefined> {
  if (clientCrl !== undefined && clientCa === undefined)
    throw usageError("--client-crl is about the certificates of --client-ca", "Give --client-ca too.");
  if (tlsCert === undefined && tlsKey === undefined) {
    if (clientCa !== undefined) throw usageError("--client-ca needs TLS", "Give --tls-cert and --tls-key too.");
    return undefined;
  }
  if (tlsCert === undefined || tlsKey === undefined)
    throw usageError("TLS needs a certificate and its key", "Give both --tls-cert and --tls-key.");
  const [cert, key] = await Promise.all([readPem(tlsCert, "--tls-cert"), readPem(tlsKey, "--tls-key")]);
  return {
    cert,
    key,
    ...(clientCa === undefined ? {} : { clientCa: await readPem(clientCa, "--client-ca") }),
    ...(clientCrl === undefined ? {} : { crl: await readPem(clientCrl, "--client-crl") }),
  };
}

export async function readPem(path: string, option: string): Promise<string> {
  return readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    throw usageError(`${option}: ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
}

interface Reporting {
  say(line: string): void;
  readonly audit: AuditSink | undefined;
}

/** Reloads a renewed certificate on SIGHUP and when its files change. Open streams continue. */
export function watchTlsFiles(files: TlsFiles, server: Pick<Server, "reload">, { say, audit }: Reporting): () => void {
  let last = "";
  let checking = false;

  async function check(reload: boolean): Promise<void> {
    if (checking) return;
    checking = true;
    try {
      const now = await changeOf(files);
      const changed = reload || (last !== "" && now !== last);
      last = now;
      const tls = changed ? await readTls(files) : undefined;
      if (tls === undefined) return;
      server.reload(tls);
      say("Certificate reloaded.");
      note("key.reloaded", "the certificate files have changed");
    } catch (thrown) {
      const { message } = problemOf(thrown);
      say(`Certificate reload rejected; still using the previous certificate: ${message}`);
      note("refused", message);
    } finally {
      checking = false;
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

  const onHangUp = (): void => void check(true);
  process.on("SIGHUP", onHangUp);
  const timer = setInterval(() => void check(false), POLL_MS).unref();
  void check(false);
  return () => {
    process.off("SIGHUP", onHangUp);
    clearInterval(timer);
  };
}

async function changeOf({ tlsCert, tlsKey, clientCa, clientCrl }: TlsFiles): Promise<string> {
  const files = [tlsCert, tlsKey, clientCa, clientCrl].filter((path) => path !== undefined);
  const times = await Promise.all(files.map(async (path) => (await stat(path)).mtimeMs));
  return times.join(" ");
}
