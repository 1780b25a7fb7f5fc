/** How much a scenario file may hold. What is beyond is refused, never cut. */
export const SCENARIO_FILE_BYTES = 16 * 1024 * 1024;

/** YAML takes some seventy times its size in memory while it is read, so there may be less of it. */
export const YAML_CHARACTERS = 4 * 1024 * 1024;

/** Anchors in YAML may be repeated this often, all together. */
export const YAML_ALIASES = 100;

/** Lists and objects within each other. The deepest form needs six. */
export const DOCUMENT_DEPTH = 32;

export const SCENARIOS_PER_FILE = 10_000;
export const MODULES_PER_SCENARIO = 1_000;

/** All passages of a module together; a description, and a text about all modules, have as many again. */
export const CHARACTERS_PER_MODULE = 100_000;

/** Who talks to whom, each pair once: enough for a mesh of sixty-three. */
export const LINKS_PER_SCENARIO = 2_000;

/** Of an id or a role. */
export const CHARACTERS_PER_NAME = 200;
