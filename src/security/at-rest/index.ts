/** Keys and encryption of what stores keep. */
export { openStoreSeal, type StoreSealOptions } from "./open-seal.js";
export { createStoreKeys, readStoreKeys, rotateStoreKeys, type StoreKeys, storeKeysFileOf } from "./store-keys.js";
