// The tags by which provider objects are known to belong to a deployment and to have been made by a saga.

export const SAGA_TAG = 'saga:'

export const sagaTag = (sagaId: string): string => `${SAGA_TAG}${sagaId}`

/** Who is named in the events of what a saga does. */
export const sagaActor = (sagaId: string): string => `saga:${sagaId}`
