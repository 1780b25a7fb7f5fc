/** The commands `koine anp …`. `koine --help` loads this module, so it imports the commands only when called. */
export const commands = async () => (await import("./identity/commands.js")).commands;
