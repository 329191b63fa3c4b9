import type { Walker, WalkPlace } from "./walk.ts";

type Connect = (place: WalkPlace) => Walker;

const connects = {
  "hand-written": async () => (await import("./hand-written.ts")).connect,
  "document-client": async () => (await import("./document-client.ts")).connect,
  edgetable: async () => (await import("./edgetable.ts")).connect,
} satisfies Record<string, () => Promise<Connect>>;

export type WalkSide = keyof typeof connects;
export const walkSides = Object.keys(connects) as readonly WalkSide[];
export const connectSide = async (side: WalkSide, place: WalkPlace): Promise<Walker> => (await connects[side]())(place);
