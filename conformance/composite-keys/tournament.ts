import { defineGraph, node } from "edgetable";
import { z } from "zod";

const text = z.string();

/** The matches of the developer guide's "Multi-attribute keys pattern" (GSI.DesignPattern.MultiAttributeKeys). */
export const tournamentIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      match: node({
        key: "{matchId}",
        schema: z.object({
          matchId: text,
          tournamentId: text,
          region: text,
          round: text,
          bracket: text,
          player1Id: text.optional(),
          player2Id: text.optional(),
          matchDate: text,
          winner: text.optional(),
          score: z.number().optional(),
        }),
      }),
    },
    layout: {
      partitionKey: "matchId",
      indexes: {
        byRegion: { partitionKey: ["tournamentId", "region"], sortKey: ["round", "bracket", "matchId"] },
        byPlayer: { partitionKey: "player1Id", sortKey: ["matchDate", "round"] },
        byScore: { partitionKey: ["region", "round"], sortKey: ["score", "matchDate"] },
      },
    },
  });

export interface Match {
  readonly matchId: string;
  readonly tournamentId: string;
  readonly region: string;
  readonly round: string;
  readonly bracket: string;
  readonly player1Id?: string;
  readonly player2Id?: string;
  readonly matchDate: string;
  readonly winner?: string;
  readonly score?: number;
}

/** Its items. */
export const matches: readonly Match[] = (
  [
    ["match-001", "WINTER2024", "NA-EAST", "FINALS", "CHAMPIONSHIP", "101", "103", "2024-01-20", "101", 3],
    ["match-002", "WINTER2024", "NA-EAST", "SEMIFINALS", "UPPER", "101", "105", "2024-01-18", "101", 2],
    ["match-003", "WINTER2024", "NA-EAST", "SEMIFINALS", "UPPER", "103", "107", "2024-01-18", "103", -1],
    ["match-004", "WINTER2024", "NA-EAST", "QUARTERFINALS", "UPPER", "101", "109", "2024-01-15", "101", 10],
    ["match-005", "WINTER2024", "NA-WEST", "FINALS", "CHAMPIONSHIP", "102", "104", "2024-01-20", "102", 9],
    ["match-006", "WINTER2024", "NA-WEST", "SEMIFINALS", "UPPER", "102", "106", "2024-01-18", "102", 2.5],
    ["match-007", "SPRING2024", "NA-EAST", "QUARTERFINALS", "UPPER", "101", "108", "2024-03-15", "101", 0],
    ["match-008", "SPRING2024", "NA-EAST", "QUARTERFINALS", "LOWER", "103", "110", "2024-03-15", "103", -10],
  ] as const
).map(([matchId, tournamentId, region, round, bracket, player1Id, player2Id, matchDate, winner, score]) => ({
  matchId,
  tournamentId,
  region,
  round,
  bracket,
  player1Id,
  player2Id,
  matchDate,
  winner,
  score,
}));

type Field = keyof Match;

const compare = (a: string | number, b: string | number): number => (a === b ? 0 : a < b ? -1 : 1);

/** The rows that a naive search finds, in the order of an index's sort attributes. */
export const naively = (
  rows: readonly Match[],
  matching: (row: Match) => boolean,
  index: readonly Field[],
  sorted: readonly Field[],
): readonly Match[] =>
  rows
    .filter((row) => [...index, ...sorted].every((field) => row[field] !== undefined) && matching(row))
    .toSorted((a, b) => sorted.reduce((order, field) => order || compare(a[field]!, b[field]!), 0));
