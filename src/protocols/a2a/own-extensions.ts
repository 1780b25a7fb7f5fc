/**
 * What A2A 1.0 lacks and Koine adds, by the names the card declares it under. Never required: a peer that does not know
 * them loses nothing. When A2A has these itself, the names go.
 */

/** A stream that was lost is taken up behind the last event that arrived. */
export const RESUME_URI = "urn:koine:resume:1";
/** The same key never starts a second task, for as long as the parameter `windowSeconds` says. */
export const IDEMPOTENT_SEND_URI = "urn:koine:idempotent-send:1";
/**
 * A push configuration also says how far its webhook was told: a member `delivery`, in the JSON forms only, and only for
 * callers that name this URI. Readers that check for unknown members never meet it.
 */
export const PUSH_DELIVERY_URI = "urn:koine:push-delivery:1";
