import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";
import type { Design } from "./describe-design.ts";

const text = z.string();

const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{username}", schema: z.object({ username: text, name: text, email: text, birthdate: text, address: text }) }),
      game: node({
        key: "GAME#{game_id}",
        schema: z.object({
          game_id: text,
          map: text,
          create_time: text,
          people: z.int(),
          creator: text,
          open_timestamp: text.optional(),
          start_time: text.optional(),
        }),
      }),
    },
    edges: { player: edge({ from: "game", to: "user", schema: z.object({ place: text.optional() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: {
        OpenGamesIndex: { partitionKey: "map", sortKey: "open_timestamp" },
        InvertedIndex: { partitionKey: "SK", sortKey: "PK" },
      },
      nodes: {
        user: { keys: { SK: "#METADATA#{username}" }, verbatim: ["username"] },
        game: { keys: { SK: "#METADATA#{game_id}" }, verbatim: ["game_id"] },
      },
      edges: { player: { keys: { SK: "{to}" }, verbatim: { game_id: "from.game_id", username: "to.username" } } },
    },
  });

const user = (username: string) => ({
  username,
  name: `Name of ${username}`,
  email: `${username}@example.org`,
  birthdate: "2001-02-03",
  address: "1 Road\nTown",
});
const userItem = (username: string) => ({ PK: `USER#${username}`, SK: `#METADATA#${username}`, ...user(username) });
interface Times {
  readonly open_timestamp?: string;
  readonly start_time?: string;
}
const game = (game_id: string, people: number, times: Times = {}) => ({
  game_id,
  map: "Misty Moor",
  create_time: "2024-04-01T10:00:00",
  people,
  creator: "ash",
  ...times,
});
const gameItem = (id: string, people: number, times: Times = {}) => ({
  PK: `GAME#${id}`,
  SK: `#METADATA#${id}`,
  ...game(id, people, times),
});
const playerItem = (game_id: string, username: string) => ({ PK: `GAME#${game_id}`, SK: `USER#${username}`, game_id, username });
const player = (game_id: string, username: string) => ({ from: { game_id }, to: { username } });

const [early, late] = ["2024-04-01T10:00:00", "2024-04-01T11:00:00"];

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const battleRoyale: Design<Db> = {
  name: "battle-royale",
  source: "AWS workshop, Modeling game player data with DynamoDB: github.com/aws-samples/amazon-dynamodb-labs, game-player-data",
  table: { key: ["PK", "SK"], indexes: { OpenGamesIndex: { key: ["map", "open_timestamp"] }, InvertedIndex: { key: ["SK", "PK"] } } },
  graph,
  items: [
    userItem("ash"),
    userItem("bea"),
    gameItem("g1", 2, { start_time: late }),
    gameItem("g2", 50, { open_timestamp: late }),
    gameItem("g3", 7, { open_timestamp: early }),
    playerItem("g1", "ash"),
    { ...playerItem("g1", "bea"), place: "gold" },
    playerItem("g2", "ash"),
  ],
  patterns: [
    {
      question: "a user",
      ask: (db) => db.user.get({ username: "ash" }),
      answer: user("ash"),
      requests: ["GetItem: 'USER#ash' / '#METADATA#ash'"],
    },
    {
      question: "fetch_game_and_users",
      ask: (db) => db.game({ game_id: "g1" }).collection(),
      answer: {
        node: game("g1", 2, { start_time: late }),
        edges: { player: [player("g1", "ash"), { ...player("g1", "bea"), place: "gold" }] },
        parts: {},
      },
      requests: ["Query: PK = 'GAME#g1'"],
    },
    {
      question: "find_open_games_by_map",
      ask: (db) => db.find("game").where({ map: "Misty Moor" }).using("OpenGamesIndex").rows(),
      answer: [game("g3", 7, { open_timestamp: early }), game("g2", 50, { open_timestamp: late })],
      requests: ["Query OpenGamesIndex: map = 'Misty Moor'"],
    },
    {
      question: "find_games_for_user",
      ask: (db) => db.user({ username: "ash" }).in("player").edges(),
      answer: [player("g1", "ash"), player("g2", "ash")],
      requests: ["Query InvertedIndex: SK = 'USER#ash' AND begins_with(PK, 'GAME#')"],
    },
    {
      question: "the games of a user",
      ask: (db) => db.user({ username: "ash" }).in("player").nodes(),
      answer: [game("g1", 2, { start_time: late }), game("g2", 50, { open_timestamp: late })],
      requests: [
        "Query InvertedIndex: SK = 'USER#ash' AND begins_with(PK, 'GAME#')",
        "BatchGetItem: 'GAME#g1' / '#METADATA#g1', 'GAME#g2' / '#METADATA#g2'",
      ],
    },
  ],
  writes: [
    {
      what: "join_game_for_user, while there is room",
      call: (db) =>
        db.transact([
          db.player.link({ game_id: "g3" }, { username: "bea" }, {}),
          db.game.update({ game_id: "g3" }, { add: { people: 1 } }, { if: { people: { lt: 50 } } }),
        ]),
      puts: [playerItem("g3", "bea"), gameItem("g3", 8, { open_timestamp: early })],
    },
    {
      what: "join_game_for_user of a full game",
      call: (db) =>
        db.transact([
          db.player.link({ game_id: "g2" }, { username: "bea" }, {}),
          db.game.update({ game_id: "g2" }, { add: { people: 1 } }, { if: { people: { lt: 50 } } }),
        ]),
    },
    {
      what: "start_game, which leaves the index of open games",
      call: (db) =>
        db.game
          .update(
            { game_id: "g2" },
            { remove: ["open_timestamp"], set: { start_time: late } },
            { if: { people: 50, creator: "ash", start_time: { exists: false } } },
          )
          .orThrow(),
      puts: [gameItem("g2", 50, { start_time: late })],
    },
  ],
  cannot: [
    {
      needs: "find_open_games, a Scan of the sparse index: only db.scan scans, and that the table",
      attempt: (db) => db.find("game").using("OpenGamesIndex").rows(),
      refusal: "OpenGamesIndex",
    },
  ],
};
