/** A worker of the benchmark that never answers. It ends with its driver. */
process.on("message", () => undefined);
process.on("disconnect", () => process.exit(0));
