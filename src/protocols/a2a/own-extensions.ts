/**
 * What A2A 1.0 lacks and Koine adds, by the names the card declares it under. Never required: a peer that does not know
 * them loses nothing. When A2A has these itself, the names go.
 */

/** Resumes an interrupted stream after the last received event. */
export const RESUME_URI = "urn:koine:resume:1";
/** A repeated idempotency key does not start a second task, within `windowSeconds`. */
export const IDEMPOTENT_SEND_URI = "urn:koine:idempotent-send:1";
/**
 * A push configuration also says how far its webhook was told: a member `delivery`, in the JSON forms only, and only for
 * callers that name this URI. Readers that check for unknown members never meet it.
 */
export const PUSH_DELIVERY_URI = "urn:koine:push-delivery:1";
