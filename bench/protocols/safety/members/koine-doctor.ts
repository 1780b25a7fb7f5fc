import { agent, type Server, serve } from "../../../../src/index.js";
import { provedDids } from "../../../../src/internal.js";
import { type Admission, bearerTokens, clientCertificates } from "../../../../src/public/auth.js";
import { type Protocol, protocols } from "../../../../src/public/protocols.js";
import { openOwnIdentity } from "../../processes/own-identity.js";
import type { Callers, DoctorTask } from "./tasks.js";

/** A doctor: where it listens, and how its callers change. */
export interface Doctor {
  readonly port: number;
  /** How callers name it, if not by its URL. */
  readonly address?: string | undefined;
  admit(callers: Callers): void;
}

/** An agent of a registered protocol, run as its row of the table of deployments says. */
export async function openKoineDoctor(task: DoctorTask, answer: (text: string) => string): Promise<Doctor> {
  const protocol = protocolOf(task);
  const { row, name, publicUrl, identity, tls } = task;
  const own = identity && (await openOwnIdentity(identity.file, identity, protocol));
  const doctor = agent({ name, description: "A doctor of the benchmark", handle: ({ text }) => answer(text) });
  const admissionOf = (callers: Callers) => {
    const admission = admissionFor(task, callers);
    return admission === undefined ? {} : { admission };
  };
  const options = {
    publicUrl,
    // One that needs identities may lie over another, whose card it is found by. Calls of that one are refused: they prove nothing.
    protocols: protocol.needsIdentity === true ? protocols : [protocol],
    ...own,
    ...(row.messages === "signed" && { require: ["signed"] as const }),
    limits: { drainMs: 0 },
    onError: (thrown: unknown) => void process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`),
  };
  const server: Server = await serve(doctor, {
    ...options,
    ...admissionOf(task.callers),
    ...(tls && { tls: row.transport === "mtls" ? tls : { cert: tls.cert, key: tls.key } }),
  });
  return {
    port: server.port,
    address: protocol.createIdentity === undefined ? undefined : own?.identity.did,
    admit(callers) {
      const { publicUrl: _kept, ...replaced } = options;
      server.replace(doctor, { ...replaced, ...admissionOf(callers) }).catch(() => undefined);
    },
  };
}

function admissionFor({ row, name }: DoctorTask, { tokens, dids }: Callers): Admission | undefined {
  if (row.callers === "bearer") return bearerTokens(new Map(Object.entries(tokens)));
  if (row.callers === "certificate") return clientCertificates({});
  return row.callers === "did" ? provedDids(dids, `only callers that ${name} knows may call it`) : undefined;
}

function protocolOf({ target }: DoctorTask): Protocol {
  const found = target.kind === "protocol" ? protocols.find(({ id }) => id === target.protocol) : undefined;
  if (found === undefined) throw new Error("the target names no registered protocol");
  return found;
}
