import type { Maybe } from "../../../envelope/index.js";
import type { Identity } from "../../../security/identity/index.js";
import { MessageSigner, type SignatureProfile } from "../../../security/signatures/index.js";
import { messageKeyOf, signingKeyOf } from "../identity/signing-key.js";
import type { SageSession } from "../session/session.js";
import { SIGNATURES } from "./profile.js";

/** The signer of an identity with the key that it has now: keys rotate, and a signer is made once for each. `nonce`: the one that a peer asked for. */
export function ownSigner(
  identity: Identity,
  now: () => number,
  { nonce, profile = SIGNATURES }: { readonly nonce?: Maybe<string>; readonly profile?: SignatureProfile } = {},
): () => MessageSigner {
  let known: Maybe<{ readonly keyId: string; readonly signer: MessageSigner }>;
  return () => {
    const { id } = signingKeyOf(identity);
    if (known?.keyId !== id)
      known = {
        keyId: id,
        signer: new MessageSigner({
          ...{ profile, key: messageKeyOf(identity), now },
          nonce: nonce === undefined ? undefined : () => nonce,
        }),
      };
    return known.signer;
  };
}

/** The signers of sessions, made once for each. */
export function sessionSigner(now: () => number, profile = SIGNATURES): (session: SageSession) => MessageSigner {
  const signers = new WeakMap<SageSession, MessageSigner>();
  return (session) => {
    const known = signers.get(session) ?? new MessageSigner({ profile, key: session.signingKey(), now });
    signers.set(session, known);
    return known;
  };
}
