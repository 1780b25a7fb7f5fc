import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { DEFAULT_CIPHERS, TLSSocket } from "node:tls";
import { z } from "zod";
import type { Doctor } from "../members/koine-doctor.js";
import type { DoctorTask } from "../members/tasks.js";
import { listenLocally, readBody } from "./http.js";
import { seal, unseal } from "./sealing.js";

/** The holder of the one client certificate that is admitted. */
const CALLER = "coordinator";
/** How much the clocks of both sides may differ. */
const WINDOW_MS = 60_000;
/** Forward secrecy only, and no RSA keys under 2,048 bits. */
const CIPHERS = `${DEFAULT_CIPHERS}:!kRSA:@SECLEVEL=2`;

const BODY = z.strictObject({ sealed: z.string().max(1024 * 1024) });
const MESSAGE = z.strictObject({ number: z.number(), at: z.number(), text: z.string() });

/** The control that must pass every probe: client certificates with revocation, sealed messages with numbers in order and a time. */
export async function openHardenedDoctor(task: DoctorTask, answer: (text: string) => string): Promise<Doctor> {
  const { tls, name } = task;
  if (tls === undefined) throw new Error("the hardened control has no certificate");
  let key = Buffer.from(task.callers.key, "hex");
  let last = 0;
  const { cert, key: privateKey, clientCa: ca } = tls;
  // Of several lists in one text Node reads the first only.
  const crl = tls.crl.split(/(?<=-----END X509 CRL-----\n)/);
  // Node ends the connection of a bad certificate without an alert: this server says what is wrong.
  const options = { cert, key: privateKey, ca, crl, requestCert: true, rejectUnauthorized: false, ciphers: CIPHERS } as const;
  const server = createServer({ ...options, minVersion: "TLSv1.2" }, (request, response) => void exchange(request, response));

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("content-type", "application/json");
    const body = await readBody(request);
    const refuse = (reason: string): void => {
      response.statusCode = 403;
      response.end(JSON.stringify({ error: reason }));
    };
    const problem = certificateProblem(request);
    if (problem !== undefined) return refuse(problem);
    const about = `${request.method} ${request.url} ${name}`;
    const message = opened(body, about, key);
    if (message === undefined) return refuse("signature");
    if (Math.abs(Date.now() - message.at) > WINDOW_MS) return refuse("timestamp");
    if (message.number <= last) return refuse("replay");
    last = message.number;
    response.end(JSON.stringify({ sealed: seal({ answer: answer(message.text) }, `answer ${message.number}`, key) }));
  }

  return {
    port: await listenLocally(server),
    admit(callers) {
      key = Buffer.from(callers.key, "hex");
    },
  };
}

/** Undefined for the valid certificate of the one caller. */
function certificateProblem({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket)) return "forbidden: no TLS";
  if (!socket.authorized) return `forbidden: ${String(socket.authorizationError ?? "no certificate")}`;
  return socket.getPeerCertificate().subject?.CN === CALLER ? undefined : "forbidden: not the certificate of the caller";
}

function opened(body: Buffer, about: string, key: Buffer): z.infer<typeof MESSAGE> | undefined {
  try {
    const { sealed } = BODY.parse(JSON.parse(body.toString("utf8")));
    return MESSAGE.parse(unseal(sealed, about, key));
  } catch {
    return undefined;
  }
}
