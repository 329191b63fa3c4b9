/**
 * Whether so many milliseconds have passed since a moment. A clock that was set back says nothing about that: who
 * waits for it would wait for as long as it was set back, so they count as passed.
 */
export const hasPassed = (milliseconds: number, since: number, now: number): boolean => now - since >= milliseconds || now < since;
