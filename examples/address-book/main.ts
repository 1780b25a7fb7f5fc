/** The address book: an agent calls others by name, and itself in memory. */
import assert from "node:assert/strict";
import { agent, connect, serve } from "koine";
import { createMetrics, createTelemetry } from "koine/telemetry";

const thesaurus = agent({
  name: "thesaurus",
  description: "Another word for it",
  async handle(message) {
    return message.text === "big" ? "large" : message.text;
  },
});
const thesaurusServer = await serve(thesaurus);

const telemetry = createTelemetry({ metrics: createMetrics() });
const editor = agent({
  name: "editor",
  description: "Replaces words with the help of others",
  peers: { words: thesaurusServer.url },
  edges: { timeoutMs: 5_000, telemetry },
  async handle(message) {
    const [first = "", ...rest] = message.text.split(" ");
    // `parent` links the messages: same trace, and `parent_id` names the cause.
    const better = await editor.ask("words", first, { parent: message });
    if (rest.length === 0) return better;
    return `${better} ${await editor.ask("editor", rest.join(" "), { parent: message })}`;
  },
});

const editorServer = await serve(editor);
const peer = await connect(editorServer.url);
try {
  const answer = await peer.ask("big big house");
  console.log(`big big house → ${answer}`);
  assert.equal(answer, "large large house");

  await assert.rejects(editor.ask("nobody", "hello"), { code: "not_found" });

  // Each edge has its own metrics, to the peer and to itself.
  const edges = telemetry.metricsText().match(/REQUEST_LATENCY_count\{.*\} \d+/g) ?? [];
  for (const edge of edges) console.log(`  ${edge}`);
  assert.equal(
    edges.some((edge) => edge.includes('dst_id="words"') && edge.endsWith(" 3")),
    true,
  );
  assert.equal(
    edges.some((edge) => edge.includes('dst_id="editor"') && edge.endsWith(" 2")),
    true,
  );
} finally {
  await peer.close();
  await editor.closePeers();
  await Promise.all([editorServer.close(), thesaurusServer.close()]);
}
