import { defineGraph, node, part } from "edgetable";
import { z } from "zod";
import { whole, type Design } from "./describe-design.ts";

const text = z.string();

// A comment's sort key is the time alone, beside "Join:…" in the same partition: the date's format tells them apart.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "User:{userId}", schema: z.object({ userId: text }), stored: false }),
      room: node({ key: "Room:{roomId}", schema: z.object({ roomId: text, createdBy: text }) }),
    },
    parts: {
      comment: part({
        of: "user",
        key: "{sentAt:date}",
        schema: z.object({ sentAt: z.date(), createdAt: z.date(), roomId: text, comment: text }),
        dates: ["sentAt", "createdAt"],
      }),
      joined: part({ of: "user", key: "Join:{roomId}", schema: z.object({ roomId: text }) }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      delimiter: ":",
      indexes: { RoomID_Comment_IDX: { partitionKey: "RoomID", sortKey: "CreatedAt" } },
      nodes: { room: { keys: { SK: "meta" }, attributes: { createdBy: "CreatedBy" } } },
      parts: {
        comment: {
          keys: { RoomID: "{roomId}", CreatedAt: "{createdAt:date}" },
          delimiters: { SK: whole, RoomID: whole, CreatedAt: whole },
          attributes: { comment: "Comment" },
        },
      },
    },
  });

const at = (minute: string) => `2024-05-04T10:${minute}:00.000Z`;
const commentItem = (user: string, minute: string, [room, comment]: readonly [string, string]) => ({
  PK: `User:${user}`,
  SK: at(minute),
  RoomID: room,
  Comment: comment,
  CreatedAt: at(minute),
});
const row = (userId: string, minute: string, [roomId, comment]: readonly [string, string]) => ({
  userId,
  sentAt: new Date(at(minute)),
  createdAt: new Date(at(minute)),
  roomId,
  comment,
});

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

const inBooks = [row("Ann", "01", ["Books", "Hello"]), row("Ben", "02", ["Books", "Hi"]), row("Ann", "05", ["Books", "Bye"])] as const;

export const chat: Design<Db> = {
  name: "chat",
  source: "AWS, Chat system schema: github.com/aws-samples/aws-dynamodb-examples, schema_design/SchemaExamples/ChatSystem",
  table: { key: ["PK", "SK"], indexes: { RoomID_Comment_IDX: { key: ["RoomID", "CreatedAt"] } } },
  graph,
  items: [
    { PK: "Room:Books", SK: "meta", CreatedBy: "Ann" },
    { PK: "Room:Films", SK: "meta", CreatedBy: "Ben" },
    { PK: "User:Ann", SK: "Join:Books" },
    commentItem("Ann", "01", ["Books", "Hello"]),
    commentItem("Ben", "02", ["Books", "Hi"]),
    commentItem("Ben", "03", ["Films", "Anyone?"]),
    commentItem("Ann", "05", ["Books", "Bye"]),
  ],
  patterns: [
    {
      question: "getAllComments",
      ask: (db) => db.find("comment").where({ roomId: "Books" }).rows(),
      answer: inBooks,
      requests: ["Query RoomID_Comment_IDX: RoomID = 'Books'"],
    },
    {
      question: "getLatestComments",
      ask: (db) => db.find("comment").where({ roomId: "Books" }).reverse().limit(2).rows(),
      answer: [inBooks[2], inBooks[1]],
      requests: ["Query RoomID_Comment_IDX: RoomID = 'Books' (descending, limit 2)"],
    },
    {
      question: "getFromLatestToSpecifiedPositionComments",
      ask: (db) =>
        db
          .find("comment")
          .where({ roomId: "Books", createdAt: { gt: new Date(at("01")) } })
          .rows(),
      answer: [inBooks[1], inBooks[2]],
      // The least text that is greater than the value.
      requests: [`Query RoomID_Comment_IDX: RoomID = 'Books' AND CreatedAt >= '${at("01")}\u0000'`],
    },
    {
      question: "getFromPositionToPositionComments",
      ask: (db) =>
        db
          .find("comment")
          .where({ roomId: "Books", createdAt: { between: [new Date(at("02")), new Date(at("05"))] } })
          .rows(),
      answer: [inBooks[1], inBooks[2]],
      requests: [`Query RoomID_Comment_IDX: RoomID = 'Books' AND CreatedAt BETWEEN '${at("02")}' AND '${at("05")}'`],
    },
  ],
  writes: [
    {
      what: "createChatRoom, if there is none",
      call: (db) => db.room.create({ roomId: "Food", createdBy: "Ann" }).orThrow(),
      puts: [{ PK: "Room:Food", SK: "meta", CreatedBy: "Ann" }],
    },
    { what: "createChatRoom of one that is there", call: (db) => db.room.create({ roomId: "Food", createdBy: "Ben" }) },
    {
      what: "joinChatRoom",
      call: (db) => db.joined.put({ userId: "Ben" }, { roomId: "Food" }).orThrow(),
      puts: [{ PK: "User:Ben", SK: "Join:Food" }],
    },
    {
      what: "addComments",
      call: (db) => db.comment.put({ userId: "Ben" }, row("Ben", "09", ["Food", "Soup"])).orThrow(),
      puts: [commentItem("Ben", "09", ["Food", "Soup"])],
    },
    {
      what: "leaveChatRoom",
      call: (db) => db.joined.delete({ userId: "Ben" }, { roomId: "Food" }).orThrow(),
      deletes: [{ PK: "User:Ben", SK: "Join:Food" }],
    },
    { what: "deleteChatRoom by another user", call: (db) => db.room.delete({ roomId: "Food" }, { if: { createdBy: "Ben" } }) },
    {
      what: "deleteChatRoom by its creator",
      call: (db) => db.room.delete({ roomId: "Food" }, { if: { createdBy: "Ann" } }).orThrow(),
      deletes: [{ PK: "Room:Food", SK: "meta" }],
    },
  ],
};
