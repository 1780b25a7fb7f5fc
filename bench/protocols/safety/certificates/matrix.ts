import { Authority, type Issue, makeKeys, type Pair, selfSigned } from "./authority.js";

/** What can be wrong with a certificate. */
export const DEFECTS = [
  "expired",
  "not_yet_valid",
  "wrong_host",
  "self_signed",
  "missing_intermediate",
  "revoked",
  "weak_key",
] as const;
export type Defect = (typeof DEFECTS)[number];

/** Certificates for one side: a good one, and one with each defect. */
export type CertificateMatrix = { readonly [name in Defect | "valid"]: Pair };

/** Everything that the certificates of a run come from. Chains are root, intermediate, leaf. */
export interface TrustMaterial {
  readonly ca: string;
  /** Of both authorities. */
  readonly crl: string;
  readonly server: CertificateMatrix;
  readonly client: CertificateMatrix;
}

const DAY_MS = 86_400_000;
const WEAK_BITS = 1_024;

export async function makeTrustMaterial(host: string): Promise<TrustMaterial> {
  const root = await Authority.root("Koine Bench Root");
  const issuing = await root.intermediate("Koine Bench Issuing");
  const [server, client] = await Promise.all([matrix(issuing, host, false), matrix(issuing, host, true)]);
  const crl = issuing.crl([server.revoked, client.revoked]) + root.crl([]);
  return { ca: root.cert, crl, server, client };
}

async function matrix(issuing: Authority, host: string, client: boolean): Promise<CertificateMatrix> {
  const owner = client ? "coordinator" : host;
  const [keys, weakKeys] = await Promise.all([makeKeys(), makeKeys(WEAK_BITS)]);
  const issue = { hosts: [owner], client, keys };
  const chained = (more: Partial<Issue> = {}): Pair => {
    const pair = issuing.issue({ ...issue, ...more });
    return { ...pair, cert: pair.cert + issuing.cert };
  };
  return {
    valid: chained(),
    expired: chained({ notBefore: new Date(Date.now() - 3 * DAY_MS), notAfter: new Date(Date.now() - DAY_MS) }),
    not_yet_valid: chained({ notBefore: new Date(Date.now() + DAY_MS), notAfter: new Date(Date.now() + 3 * DAY_MS) }),
    wrong_host: chained({ hosts: ["elsewhere.example"] }),
    self_signed: selfSigned([owner], keys),
    missing_intermediate: issuing.issue(issue),
    revoked: chained(),
    weak_key: chained({ keys: weakKeys }),
  };
}
