import { X509Certificate } from "node:crypto";
import { createServer, connect as dial, type TLSSocket } from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import { listenLocally } from "../controls/http.js";
import { DEFECTS, makeTrustMaterial, type TrustMaterial } from "./matrix.js";

const HOST = "127.0.0.1";
/** OpenSSL reads any key at this level, so that the other side decides. */
const ANY_KEY = "DEFAULT:@SECLEVEL=0";
const STRICT = "DEFAULT:@SECLEVEL=2";

let material: TrustMaterial;
beforeAll(async () => {
  material = await makeTrustMaterial(HOST);
});

const lists = (): string[] => material.crl.split(/(?<=-----END X509 CRL-----\n)/).filter((each) => each !== "");

/** What OpenSSL says about the certificate of a server. */
async function asClient(name: (typeof DEFECTS)[number] | "valid"): Promise<string> {
  const server = createServer({ ...material.server[name], ciphers: ANY_KEY }, (socket) => socket.end());
  const port = await listenLocally(server);
  try {
    return await new Promise<string>((resolve) => {
      const trust = { ca: material.ca, crl: lists(), ciphers: STRICT };
      const socket = dial({ port, host: HOST, ...trust }, () => resolve("accepted"));
      socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  } finally {
    server.close();
  }
}

/** What OpenSSL says about the certificate of a client. */
async function asServer(name: (typeof DEFECTS)[number] | "valid"): Promise<string> {
  const trust = { ca: material.ca, crl: lists(), requestCert: true, rejectUnauthorized: false, ciphers: STRICT };
  let say: (text: string) => void = () => undefined;
  const said = new Promise<string>((resolve) => {
    say = resolve;
  });
  const server = createServer({ ...material.server.valid, ...trust }, (socket: TLSSocket) => {
    say(socket.authorized ? `accepted ${socket.getPeerCertificate().subject.CN}` : String(socket.authorizationError));
    socket.end();
  });
  const port = await listenLocally(server);
  const client = dial({ port, host: HOST, ca: material.ca, ...material.client[name], ciphers: ANY_KEY });
  client.on("error", (error) => say(error.message));
  try {
    return await said;
  } finally {
    client.destroy();
    server.close();
  }
}

describe("certificates of a run", () => {
  it("are refused by OpenSSL for exactly the defect that they have, at a server", async () => {
    const said = Object.fromEntries(await Promise.all(DEFECTS.map(async (name) => [name, await asClient(name)] as const)));
    expect(said).toEqual({
      expired: "CERT_HAS_EXPIRED",
      not_yet_valid: "CERT_NOT_YET_VALID",
      wrong_host: "ERR_TLS_CERT_ALTNAME_INVALID",
      self_signed: expect.stringMatching(/SELF_SIGNED|UNABLE_TO_GET_CRL/),
      missing_intermediate: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      revoked: "CERT_REVOKED",
      weak_key: expect.stringMatching(/UNSPECIFIED|EE_KEY_TOO_SMALL/),
    });
    expect(await asClient("valid")).toBe("accepted");
  });

  it("and of a client", async () => {
    expect(await asServer("valid")).toBe("accepted coordinator");
    expect(await asServer("wrong_host")).toBe("accepted elsewhere.example");
    expect(await asServer("revoked")).toBe("CERT_REVOKED");
    expect(await asServer("expired")).toBe("CERT_HAS_EXPIRED");
    expect(await asServer("weak_key")).toMatch(/UNSPECIFIED|EE_KEY_TOO_SMALL/);
  });

  it("have the names, times and key sizes that they say", () => {
    const weak = new X509Certificate(material.server.weak_key.cert);
    expect(weak.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 1_024 });
    expect(new X509Certificate(material.server.valid.cert).subjectAltName).toBe(`IP Address:${HOST}`);
    expect(new X509Certificate(material.ca).ca).toBe(true);
  });
});
