import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";
import { whole, type Design } from "./describe-design.ts";

const text = z.string();

// A like and a comment know their photo by its id alone, the photo's own item lies under its user: two nodes.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "USER#{username}",
        schema: z.object({ username: text, name: text, followerCount: z.int(), followingCount: z.int() }),
      }),
      photo: node({
        key: "UP#{username}#PHOTO#{photoId}",
        schema: z.object({ username: text, photoId: text, url: text, likesCount: z.int(), commentCount: z.int() }),
      }),
      thread: node({ key: "{photoId}", schema: z.object({ photoId: text }), stored: false }),
    },
    parts: {
      comment: part({
        of: "thread",
        key: "COMMENT#{commentId}",
        schema: z.object({ commentId: text, commentingUsername: text, content: text }),
      }),
    },
    edges: {
      likedBy: edge({ from: "thread", to: "user", schema: z.object({ likeId: text }), orderBy: "likeId" }),
      followedBy: edge({ from: "user", to: "user" }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: {
        user: { keys: { SK: "{key}", username: "{username}" }, delimiters: { username: whole } },
        photo: {
          keys: { PK: "UP#{username}", SK: "PHOTO#{photoId}", username: "{username}", photoId: "{photoId}" },
          delimiters: { username: whole, photoId: whole },
        },
      },
      parts: {
        comment: {
          keys: { PK: "PC#{photoId}", photoId: "{photoId}", commentId: "{commentId}" },
          delimiters: { photoId: whole, commentId: whole },
        },
      },
      edges: {
        likedBy: {
          keys: {
            PK: "PL#{from}",
            SK: "LIKE#{to.username}",
            GSI1PK: "PL#{from}",
            GSI1SK: "LIKE#{likeId}",
            photoId: "{from.photoId}",
            likingUsername: "{to.username}",
            likeId: "{likeId}",
          },
          delimiters: { photoId: whole, likingUsername: whole, likeId: whole },
        },
        followedBy: {
          keys: {
            PK: "FOLLOW#{from.username}",
            SK: "FOLLOW#{to.username}",
            GSI1PK: "FOLLOW#{to.username}",
            GSI1SK: "FOLLOW#{from.username}",
            followedUsername: "{from.username}",
            followingUsername: "{to.username}",
          },
          delimiters: { followedUsername: whole, followingUsername: whole },
        },
      },
    },
  });

const user = (username: string, name: string, [followerCount, followingCount]: readonly [number, number]) => ({
  PK: `USER#${username}`,
  SK: `USER#${username}`,
  username,
  name,
  followerCount,
  followingCount,
});
const photo = (username: string, photoId: string, [likesCount, commentCount]: readonly [number, number]) => ({
  PK: `UP#${username}`,
  SK: `PHOTO#${photoId}`,
  username,
  photoId,
  url: `https://photos.example/${photoId}`,
  likesCount,
  commentCount,
});
const comment = (photoId: string, commentId: string, [commentingUsername, content]: readonly [string, string]) => ({
  PK: `PC#${photoId}`,
  SK: `COMMENT#${commentId}`,
  commentingUsername,
  photoId,
  content,
  commentId,
});
const like = (photoId: string, likingUsername: string, likeId: string) => ({
  PK: `PL#${photoId}`,
  SK: `LIKE#${likingUsername}`,
  GSI1PK: `PL#${photoId}`,
  GSI1SK: `LIKE#${likeId}`,
  likingUsername,
  photoId,
  likeId,
});
const follow = (followedUsername: string, followingUsername: string) => ({
  PK: `FOLLOW#${followedUsername}`,
  SK: `FOLLOW#${followingUsername}`,
  GSI1PK: `FOLLOW#${followingUsername}`,
  GSI1SK: `FOLLOW#${followedUsername}`,
  followedUsername,
  followingUsername,
});

const ida = { username: "ida", name: "Ida", followerCount: 2, followingCount: 0 };
const jon = { username: "jon", name: "Jon", followerCount: 0, followingCount: 1 };
const kim = { username: "kim", name: "Kim", followerCount: 0, followingCount: 1 };

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const instagram: Design<Db> = {
  name: "instagram",
  source: "Alex DeBrie, DynamoDB Instagram: github.com/alexdebrie/dynamodb-instagram",
  table: { key: ["PK", "SK"], indexes: { GSI1: { key: ["GSI1PK", "GSI1SK"] } } },
  graph,
  items: [
    user("ida", "Ida", [2, 0]),
    user("jon", "Jon", [0, 1]),
    user("kim", "Kim", [0, 1]),
    photo("ida", "01A", [2, 2]),
    photo("ida", "01B", [0, 0]),
    comment("01A", "02A", ["jon", "Nice light"]),
    comment("01A", "02B", ["kim", "Where is it?"]),
    like("01A", "jon", "03B"),
    like("01A", "kim", "03A"),
    follow("ida", "jon"),
    follow("ida", "kim"),
  ],
  patterns: [
    { question: "getUser", ask: (db) => db.user.get({ username: "ida" }), answer: ida, requests: ["GetItem: 'USER#ida' / 'USER#ida'"] },
    {
      question: "getPhoto",
      ask: (db) => db.photo.get({ username: "ida", photoId: "01A" }),
      answer: { username: "ida", photoId: "01A", url: "https://photos.example/01A", likesCount: 2, commentCount: 2 },
      requests: ["GetItem: 'UP#ida' / 'PHOTO#01A'"],
    },
    {
      question: "listCommentsForPhoto, the latest first",
      ask: (db) => db.thread({ photoId: "01A" }).parts("comment").reverse().all(),
      answer: [
        { photoId: "01A", commentId: "02B", commentingUsername: "kim", content: "Where is it?" },
        { photoId: "01A", commentId: "02A", commentingUsername: "jon", content: "Nice light" },
      ],
      requests: ["Query: PK = 'PC#01A' AND begins_with(SK, 'COMMENT#') (descending)"],
    },
    {
      question: "listLikesForPhoto, the latest first",
      ask: (db) => db.thread({ photoId: "01A" }).out("likedBy").reverse().edges(),
      answer: [
        { from: { photoId: "01A" }, to: { username: "jon" }, likeId: "03B" },
        { from: { photoId: "01A" }, to: { username: "kim" }, likeId: "03A" },
      ],
      requests: ["Query GSI1: GSI1PK = 'PL#01A' AND begins_with(GSI1SK, 'LIKE#') (descending)"],
    },
    {
      question: "listFollowersOfUser",
      ask: (db) => db.user({ username: "ida" }).out("followedBy").nodes(),
      answer: [jon, kim],
      requests: [
        "Query: PK = 'FOLLOW#ida' AND begins_with(SK, 'FOLLOW#')",
        "BatchGetItem: 'USER#jon' / 'USER#jon', 'USER#kim' / 'USER#kim'",
      ],
    },
    {
      question: "listFollowedByUser",
      ask: (db) => db.user({ username: "jon" }).in("followedBy").nodes(),
      answer: [ida],
      requests: ["Query GSI1: GSI1PK = 'FOLLOW#jon' AND begins_with(GSI1SK, 'FOLLOW#')", "BatchGetItem: 'USER#ida' / 'USER#ida'"],
    },
  ],
  writes: [
    {
      what: "createUser",
      call: (db) => db.user.create({ username: "lea", name: "Lea", followerCount: 0, followingCount: 0 }).orThrow(),
      puts: [user("lea", "Lea", [0, 0])],
    },
    {
      what: "createPhoto",
      call: (db) =>
        db.photo.create({ username: "lea", photoId: "01C", url: "https://photos.example/01C", likesCount: 0, commentCount: 0 }).orThrow(),
      puts: [photo("lea", "01C", [0, 0])],
    },
    {
      what: "commentOnPhoto, which also counts",
      call: (db) =>
        db.transact([
          db.comment.create({ photoId: "01C" }, { commentId: "02C", commentingUsername: "ida", content: "Welcome" }),
          db.photo.update({ username: "lea", photoId: "01C" }, { add: { commentCount: 1 } }),
        ]),
      puts: [comment("01C", "02C", ["ida", "Welcome"]), photo("lea", "01C", [0, 1])],
    },
    {
      what: "likePhoto, which also counts",
      call: (db) =>
        db.transact([
          db.likedBy.link({ photoId: "01B" }, { username: "lea" }, { likeId: "03C" }),
          db.photo.update({ username: "ida", photoId: "01B" }, { add: { likesCount: 1 } }),
        ]),
      puts: [like("01B", "lea", "03C"), photo("ida", "01B", [1, 0])],
    },
    {
      what: "followUser, which counts at both ends",
      call: (db) =>
        db.transact([
          db.followedBy.link({ username: "kim" }, { username: "lea" }),
          db.user.update({ username: "kim" }, { add: { followerCount: 1 } }),
          db.user.update({ username: "lea" }, { add: { followingCount: 1 } }),
        ]),
      puts: [follow("kim", "lea"), user("kim", "Kim", [1, 1]), user("lea", "Lea", [0, 1])],
    },
  ],
};
