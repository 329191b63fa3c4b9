/** Rows that a Query is assumed to find where the model declares no `expect`: the same for plans and for the sentences about them. */
export const ASSUMED_ROWS = 10;
