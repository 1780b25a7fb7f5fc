/** A worker of the benchmark that answers nonsense to every command. */
process.on("message", (message) => {
  const { id } = message as { readonly id: number }; // the driver sends commands only
  process.send?.({ notes: [{ type: "request", run: "another", seq: "many" }] });
  process.send?.({ id, value: { ports: { "agent-1": "a port" }, configuration: {} } });
});
process.on("disconnect", () => process.exit(0));
