/**
 * Response metadata: activated extensions, Retry-After, a run id. It is attached to the first event, so that retry and hedging keep
 * only the winner's.
 */
export interface Head {
  readonly [name: string]: string;
}
export const NO_HEAD: Head = Object.freeze({});
