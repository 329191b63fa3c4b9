import { isDeepStrictEqual } from "node:util";

type Json = Readonly<Record<string, unknown>>;

const listIn = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

const changesNothing = ({ eventName, dynamodb }: Json): boolean => {
  const { OldImage, NewImage } = (dynamodb ?? {}) as Json;
  return eventName === "MODIFY" && OldImage !== undefined && isDeepStrictEqual(OldImage, NewImage);
};

/**
 * A write that changes nothing leaves no record in DynamoDB's stream, and one in the engine's. Only records with both
 * images tell; a stream of keys or of one image keeps them.
 */
export const dropUnchanged = (output: Json): Json =>
  Array.isArray(output["Records"]) ? { ...output, Records: listIn(output["Records"]).filter((record) => !changesNothing(record)) } : output;

const withoutEnd = (shard: Json): Json => {
  const { EndingSequenceNumber: _, ...range } = (shard["SequenceNumberRange"] ?? {}) as Json;
  return { ...shard, SequenceNumberRange: range };
};

/** The last shard of an enabled stream is open: it has no ending number in DynamoDB, and a wrong one in the engine. */
export const openLastShard = (output: Json): Json => {
  const description = output["StreamDescription"] as Json | undefined;
  const shards = listIn(description?.["Shards"]);
  const last = shards.at(-1);
  if (last === undefined || description?.["StreamStatus"] !== "ENABLED") return output;
  return { ...output, StreamDescription: { ...description, Shards: [...shards.slice(0, -1), withoutEnd(last)] } };
};
