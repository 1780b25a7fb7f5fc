import type { RawAnswer, SendReport } from "../members/tasks.js";
import { isDenial } from "../result/classify.js";
import type { Observation } from "../result/event.js";

export const NOTHING: Observation = {
  goal: false,
  status: null,
  name: null,
  alert: null,
  certificate: null,
  closed: false,
  error: null,
  searched: null,
};

/** Where error documents have the name of an error, most specific first; else what they say. */
const NAMES = [
  /"koineCode"\s*:\s*"(\w+)"/,
  /"reason"\s*:\s*"([\w. -]+)"/,
  /"data"\s*:\s*\{[^}]*"code"\s*:\s*"(\w+)"/,
  /"error"\s*:\s*"([^"]{1,100})"/,
  /"message"\s*:\s*"([^"]{1,200})"/,
  /"detail"\s*:\s*"([^"]{1,200})"/,
];
const IS_ERROR = /"error"\s*:\s*[{"]|"status"\s*:\s*"(error|failed)"/;
/** Of Node and OpenSSL, about the certificate of a peer. */
const CERTIFICATE =
  /CERT_|_CERT\b|_CERTIFICATE\b|SELF_SIGNED|ERR_TLS_CERT_ALTNAME|UNABLE_TO_(GET|VERIFY)|certificate|EE_KEY_TOO_SMALL|CA_KEY_TOO_SMALL|key too (small|weak)/i;
/** ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION, ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE, `SSL alert number 70`. */
const ALERT = /(?:ERR_SSL_(?:\w+?_)?ALERT_(\w+))|alert (?:number )?([\w ]+)/i;

/** The statuses of gRPC that say that the caller is not believed. */
const GRPC_DENIALS: Readonly<Record<string, string>> = { 7: "permission denied", 16: "unauthenticated" };

/** The name of the error in an answer, or null if it reports none. */
export function errorName({ status, headers, body = "" }: RawAnswer): string | null {
  const grpc = headers?.["grpc-status"] ?? "0";
  if (status === undefined || (status < 400 && grpc === "0" && !IS_ERROR.test(body))) return null;
  const challenge = /error="([^"]{1,100})"/.exec(headers?.["www-authenticate"] ?? "")?.[1];
  if (grpc !== "0") return GRPC_DENIALS[grpc] ?? `grpc-status ${grpc}`;
  return challenge ?? NAMES.map((pattern) => pattern.exec(body)?.[1]).find((each) => each !== undefined) ?? `status ${status}`;
}

/** An answer of HTTP, or why there is none. The goal is reached by an answer that is no error. */
export function observeAnswer(answer: RawAnswer): Observation {
  const { status, errors = [], closed = false } = answer;
  const name = errorName(answer);
  const goal = status !== undefined && status >= 200 && status < 300 && name === null;
  return { ...NOTHING, goal, status: status ?? null, name, closed, ...observeErrors(errors) };
}

/** Errors of a connection: a TLS alert, the certificate of the peer, anything else. */
export function observeErrors(errors: readonly string[]): Pick<Observation, "alert" | "certificate" | "error"> {
  const all = errors.join("; ");
  if (all === "") return { alert: null, certificate: null, error: null };
  const alert = ALERT.exec(all);
  const named = (alert?.[1] ?? alert?.[2])?.toLowerCase().trim();
  const certificate = named === undefined ? errors.find((each) => CERTIFICATE.test(each)) : undefined;
  return { alert: named?.slice(0, 100) ?? null, certificate: certificate ?? null, error: all.slice(0, 1_000) };
}

/** A message through a client of the protocol. The refusal is in the last answer that is one, or in the error of the client. */
export function observeReport({ answer, errors, requests }: SendReport): Observation {
  const answers = requests.flatMap((request) => request.answers);
  const observed = answers.map(observeAnswer);
  const denial = observed.findLast(({ status, name }) => isDenial(status, name));
  const last = denial ?? observed.at(-1) ?? NOTHING;
  const fromClient = observeErrors(errors);
  return {
    ...last,
    // A client may refuse what the peer says in return: its error names the reason, too.
    name: last.name ?? errors.find((each) => isDenial(null, each)) ?? null,
    goal: answer !== undefined,
    alert: last.alert ?? fromClient.alert,
    certificate: last.certificate ?? fromClient.certificate,
    error: last.error ?? fromClient.error,
  };
}
