import { expect, test } from "vitest";
import { type Envelope, newEnvelope, type Operation, ownerOf, type Principal, startCall } from "../envelope/index.js";
import { verifiedSource } from "./verified-source.js";

const ANN: Principal = { id: "ann", scheme: "bearer", scopes: [], owner: ownerOf("bearer", "ann") };

test("the source beside a signature is the caller; what the author signed stays as it is", async () => {
  const signed = new TextEncoder().encode('{"src":"bob","text":"hello"}');
  const proof = { scheme: "s", signer: "did:x:bob", keyId: "did:x:bob#1", signed, signature: new Uint8Array([1, 2]) };
  const made = newEnvelope({ content: "hello", src: "bob", dst: "agent", context: {} }, { now: () => 0, newId: () => "m-1" });
  const before = signed.slice();
  let received: Envelope | undefined;
  const handler = verifiedSource([])(async (operation: Operation) => {
    received = operation.kind === "send" ? operation.envelope : undefined;
    return { kind: "done" };
  });
  const envelope = { ...made, proofs: [proof] };
  await handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, startCall({ caller: ANN }));
  expect([received?.src, received?.meta.claimedSrc, received?.id]).toEqual(["ann", "bob", "m-1"]);
  expect(received?.proofs).toEqual([{ ...proof, signed: before }]);
});
