/** Serve an agent, connect to it, ask it, and stream an answer. */
import assert from "node:assert/strict";
import { connect, serve } from "koine";
import translator from "./agent.js";

const server = await serve(translator);
const peer = await connect(server.url);
try {
  console.log(`${peer.card.name} speaks ${peer.protocol}@${peer.version} over ${peer.binding}; evidence:`);
  for (const sentence of peer.evidence) console.log(`  ${sentence}`);
  assert.equal(peer.verified, true);

  const answer = await peer.ask("hello");
  console.log(`hello → ${answer}`);
  assert.equal(answer, "bonjour");

  let text = "";
  for await (const event of peer.stream("good evening my friend")) {
    if (event.kind === "status") console.log(`  (${event.status.state})`);
    if (event.kind !== "artifact") continue;
    for (const part of event.artifact.parts) if (part.kind === "text") text += part.text;
  }
  console.log(`good evening my friend → ${text}`);
  assert.equal(text, "bon soir mon ami");
} finally {
  await peer.close();
  await server.close();
}
