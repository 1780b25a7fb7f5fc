import type { ConnectionOptions } from "node:tls";
import { DEFECTS } from "../certificates/matrix.js";
import { NEEDS_TLS } from "../result/classify.js";
import type { Stage } from "../stage.js";
import { Impostor } from "./impostor.js";
import { NOTHING, observeAnswer, observeErrors, observeReport } from "./observe.js";
import { numbered, type Probe, type Shown, shownAnswer, shownRequest } from "./probe.js";
import { answerIn, bytesOf, handshake, type RawOptions, resend, sendBytes, withToken } from "./raw-request.js";

/** Old versions, and suites without encryption, without authentication and without forward secrecy. */
const WEAK: Readonly<Record<string, ConnectionOptions>> = {
  "TLSv1.0": { minVersion: "TLSv1", maxVersion: "TLSv1", ciphers: "ALL:@SECLEVEL=0" },
  "TLSv1.1": { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" },
  no_encryption: { minVersion: "TLSv1.2", maxVersion: "TLSv1.2", ciphers: "eNULL:@SECLEVEL=0" },
  no_authentication: { minVersion: "TLSv1.2", maxVersion: "TLSv1.2", ciphers: "aNULL:!eNULL:@SECLEVEL=0" },
  no_forward_secrecy: { minVersion: "TLSv1.2", maxVersion: "TLSv1.2", ciphers: "kRSA:!eNULL:@SECLEVEL=0" },
};

export const tlsDowngrade: Probe = {
  name: "tls_downgrade",
  async run({ stage, config, attempt }) {
    for (const round of numbered(config.downgradeRounds))
      for (const [variant, options] of Object.entries(WEAK))
        await attempt({ variant, round, refusals: ["alert"], run: () => weakHandshake(stage, options) });
  },
};

/** Where nothing speaks TLS, the attacker needs no downgrade: the message is sent in clear. */
async function weakHandshake(stage: Stage, options: ConnectionOptions): Promise<Shown> {
  const { tap } = stage.doctor("doctor_a");
  // The client's own certificate is not what is tried here.
  const { cert, key } = stage.material.client.valid;
  const { completed, errors } = await handshake(tap.port, { cert, key, ...options });
  const observed = { ...NOTHING, ...observeErrors(errors), goal: completed !== undefined };
  const shown = { offered: options, completed: completed ?? null, errors };
  if (completed !== undefined || observed.alert !== null) return { observed, evidence: shown };
  const clear = await sendInClear(stage, stage.newText("DOWNGRADE"));
  return { observed: { ...observed, goal: clear.observed.goal }, evidence: { ...shown, inClear: clear.evidence } };
}

export const plaintextFallback: Probe = {
  name: "plaintext_fallback",
  async run({ stage, config, attempt }) {
    for (const round of numbered(config.rounds)) {
      await attempt({
        ...{ variant: "server", round, refusals: ["alert", "closed", "tls_required"] },
        run: () => sendInClear(stage, stage.newText("IN-CLEAR")),
      });
      await attempt({ variant: "client", round, refusals: ["not_tls"], run: () => lured(stage, undefined) });
    }
  },
};

/** A valid message to the port of a doctor, without TLS. */
async function sendInClear(stage: Stage, text: string): Promise<Shown> {
  const sent = await stage.withheld(text);
  const received = await sendBytes(stage.doctor("doctor_a").tap.port, bytesOf(sent));
  const answer = answerIn(received);
  const observed = observeAnswer(answer);
  const handled = await stage.handled("doctor_a", text);
  const name = NEEDS_TLS.exec(answer.body ?? "")?.[0] ?? observed.name;
  return {
    observed: { ...observed, name, goal: observed.goal || handled > 0 },
    evidence: { request: shownRequest(sent), answer: shownAnswer(answer), handled },
  };
}

export const certificateMatrixClient: Probe = {
  name: "certificate_matrix_client",
  async run({ stage, config, attempt }) {
    for (const round of numbered(config.rounds))
      for (const variant of DEFECTS)
        await attempt({
          ...{ variant, round, refusals: ["certificate", "alert"] },
          run: () => lured(stage, stage.target.row.transport === "clear" ? undefined : stage.material.server[variant]),
        });
  },
};

/** The coordinator calls a doctor, and reaches an impostor with this certificate. The attacker wants its request. */
async function lured(stage: Stage, pair: { readonly cert: string; readonly key: string } | undefined): Promise<Shown> {
  const { tap, port } = stage.doctor("doctor_a");
  const impostor = await Impostor.open(pair);
  tap.target = impostor.port;
  try {
    const report = await stage.send({ text: stage.newText("LURED"), fresh: true });
    const seen = impostor.seen;
    const observed = { ...observeReport(report), goal: seen.request !== null };
    return { observed, evidence: { impostor: seen, certificate: pair?.cert ?? null, errors: report.errors } };
  } finally {
    tap.target = port;
    impostor.close();
  }
}

export const certificateMatrixServer: Probe = {
  name: "certificate_matrix_server",
  async run({ stage, config, attempt }) {
    const { client, ca } = stage.material;
    const presented = [{ variant: "absent", pair: undefined }, ...DEFECTS.map((variant) => ({ variant, pair: client[variant] }))];
    for (const round of numbered(config.rounds))
      for (const { variant, pair } of presented)
        await attempt({
          ...{ variant, round, refusals: ["alert", "denied"] },
          run: () => unproved(stage, stage.newText("BY-CERTIFICATE"), { token: "", client: { ca, ...pair } }),
        });
  },
};

/** A valid message with other credentials. The attacker wants it to be handled. */
export async function unproved(
  stage: Stage,
  text: string,
  { token, client }: { readonly token: string; readonly client: RawOptions },
): Promise<Shown> {
  const sent = withToken(await stage.withheld(text), token);
  const answer = await resend(sent, client);
  const observed = observeAnswer(answer);
  const handled = await stage.handled("doctor_a", text);
  return {
    observed: { ...observed, goal: observed.goal || handled > 0 },
    evidence: { request: shownRequest(sent), answer: shownAnswer(answer), handled },
  };
}
