import type { KeyKind } from "../../src/security/index.js";

/** Examples of the did:key method: test-vectors/ of github.com/w3c-ccg/did-method-key. */
export const W3C_DID_KEYS: readonly {
  readonly did: string;
  readonly kind: KeyKind;
  readonly jwk?: object;
  readonly base58?: string;
}[] = [
  {
    did: "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
    kind: "Ed25519",
    base58: "4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS",
  },
  {
    did: "did:key:z6LSeu9HkTHSfLLeUs2nnzUSNedgDUevfNQgQjQC23ZCit6F",
    kind: "X25519",
    base58: "4Dy8E9UaZscuPUf2GLxV44RCNL7oxmEXXkgWXaug1WKV",
  },
  {
    did: "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme",
    kind: "secp256k1",
    base58: "23o6Sau8NxxzXcgSc3PLcNxrzrZpbLeBn1izfv3jbKhuv",
  },
  {
    did: "did:key:zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv",
    kind: "P-256",
    jwk: {
      kty: "EC",
      crv: "P-256",
      x: "igrFmi0whuihKnj9R3Om1SoMph72wUGeFaBbzG2vzns",
      y: "efsX5b10x8yjyrj4ny3pGfLcY7Xby1KzgqOdqnsrJIM",
    },
  },
  {
    did: "did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169",
    kind: "P-256",
    jwk: {
      kty: "EC",
      crv: "P-256",
      x: "fyNYMN0976ci7xqiSdag3buk-ZCwgXU4kz9XNkBlNUI",
      y: "hW2ojTNfH7Jbi8--CJUo3OCbH3y5n91g-IMA9MLMbTU",
    },
  },
];

/** What the vectors below sign. */
export const VECTOR_TEXT = "koine identity vector";

/**
 * Made with the Python packages cryptography 50.0.2 and base58 2.1.1. The private keys are SHA-256 of `koine-vector-ed25519`,
 * `-x25519`, `-P-256` and `-secp256k1`; the fingerprints are RFC 7638.
 */
export const PYTHON_KEYS = {
  Ed25519: {
    jwk: {
      kty: "OKP",
      crv: "Ed25519",
      d: "FgfsJ8-97z7PYHIy6CdxamWtFPm3ItydYnb4BHzSe08",
      x: "KzNpkgIulwCBX3UXlAuR-oq4__yWFnBCCRSKRQFuuHQ",
    },
    bytes: "2b336992022e9700815f7517940b91fa8ab8fffc9616704209148a45016eb874",
    multikey: "z6MkhMu3cWnp5SUjXgQnW5SxbnxHVSizoyxaeFvkraCpbo5u",
    signature:
      "a908f8e763e1b9a17c061cb51ccb80f9fd62965d50572d97537bf2d9dbdcc7118c1e8bd566bfbf3fa3724ed85d39bd3488596e2ac3b2538f56516da15fd0f003",
    fingerprint: "UeNkMXvc4MLMaHVMVxqP3-NV4kmKDn2bBxLL5EWtVrc",
  },
  "P-256": {
    jwk: {
      kty: "EC",
      crv: "P-256",
      d: "vtOMrfPj388K5XgrIkSUmg9uuRj2M46H_P00byxi174",
      x: "j0FHmoXGn92_iaQD4A6aEiBXTdrK3_OiloIxppPv714",
      y: "5d_9veFP3dg_h22cP07ZV2jGOmRQ_xGmsYo_Ey6VdzE",
    },
    bytes:
      "048f41479a85c69fddbf89a403e00e9a1220574ddacadff3a2968231a693efef5ee5dffdbde14fddd83f876d9c3f4ed95768c63a6450ff11a6b18a3f132e957731",
    multikey: "zDnaesJVT8PKMrn7uaCeBxjS7VgXiNTHpPo2dTdPJ3QjkTkCM",
    signature:
      "cedb3d959395ef386dbd0d6fb23c094afeac85143ae78b1031a7d6e43de897137f084cb12dd80c81b20180289a1fad97e154e56010c17e8fc5ff3d5e1cd71163",
    fingerprint: "kBukoRk9B2DZte5BkYZsIt-T9KUnO4FknNSu5M3clKg",
  },
  secp256k1: {
    jwk: {
      kty: "EC",
      crv: "secp256k1",
      d: "rS0NgQ5YkapYY4hptMdBkEOp5VHD9UjTXvzIA7Sm0qE",
      x: "fQyDELdldO8217SQjuxQtCxsPXpgj9Y89rOY8v6256E",
      y: "MTI4Eqscq5uRs-HapvOIDsW0hQlUmc-AxDrg9KMTyFw",
    },
    bytes:
      "047d0c8310b76574ef36d7b4908eec50b42c6c3d7a608fd63cf6b398f2feb6e7a131323812ab1cab9b91b3e1daa6f3880ec5b485095499cf80c43ae0f4a313c85c",
    multikey: "zQ3shVpvnTVNzRNE5YVayQBfFHo5VED9zFJPEKyRb7WewQWhe",
    /** With a high s, as that library writes it. */
    signature:
      "a378c0bbada69c234ad88253809841d42f4cbc22944fd34cc1fc63e521c32083c7ab9cbf8f947a627997bf2436c109fa6f44a593832a2340fa73f6766336d41c",
    fingerprint: "ucefznQSss_9p5G2hwxJjfwHA_O5sHO7g87oabLYVcg",
  },
} as const;

/** Made like those above, with the agreement of both. */
export const PYTHON_X25519 = {
  jwk: {
    kty: "OKP",
    crv: "X25519",
    d: "IJZ7v5Wm2ocNv14xvaqeO2U4PkhBRKgeRXxAZZLgdJI",
    x: "pg8NS_KyeebrTcTjOHAzc7J6g2F5lu6g6o0BYrt4BTs",
  },
  bytes: "a60f0d4bf2b279e6eb4dc4e338703373b27a83617996eea0ea8d0162bb78053b",
  multikey: "z6LSnrQ9w8a8CbW8PMkdcK8VMM3jGSpfPECpbvHyCHmsDoWr",
  peer: "6bedc22ae3f3e19d83817623db2947ae642b884c34ca3f518791f76447f3ab49",
  shared: "cb719756b343ebeba9e869342239759970c890772abb3a5ff7517d781eb0fd2e",
  fingerprint: "ZefNvdIPkaK5az5LakQ0dY3po-w4Q3yzkNxe64w0-w8",
} as const;
