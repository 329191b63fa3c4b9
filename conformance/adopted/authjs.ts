import { defineGraph, node, part } from "edgetable";
import { z } from "zod";
import { whole, type Design } from "./describe-design.ts";

const text = z.string();

const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "USER#{userId}",
        schema: z.object({ userId: text, email: text, name: text.optional(), emailVerified: text.nullish(), image: text.optional() }),
      }),
      verification: node({
        key: "VT#{identifier}#{token}",
        schema: z.object({ identifier: text, token: text, expires: z.int() }),
        ttl: "expires",
      }),
    },
    parts: {
      account: part({
        of: "user",
        key: "ACCOUNT#{provider}#{providerAccountId}",
        schema: z.object({ provider: text, providerAccountId: text, id: text, type: text, access_token: text.optional() }),
      }),
      session: part({
        of: "user",
        key: "SESSION#{sessionToken}",
        schema: z.object({ sessionToken: text, expires: z.int() }),
        ttl: "expires",
      }),
    },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: {
        user: {
          keys: { sk: "{key}", GSI1PK: "USER#{email}", GSI1SK: "USER#{email}", type: "USER", id: "{userId}", email: "{email}" },
          delimiters: { id: whole, email: whole },
        },
        verification: {
          keys: { pk: "VT#{identifier}", sk: "VT#{token}", type: "VT", identifier: "{identifier}", token: "{token}" },
          delimiters: { identifier: whole, token: whole },
        },
      },
      parts: {
        account: {
          keys: {
            GSI1PK: "ACCOUNT#{provider}",
            GSI1SK: "ACCOUNT#{providerAccountId}",
            userId: "{userId}",
            provider: "{provider}",
            providerAccountId: "{providerAccountId}",
          },
          delimiters: { userId: whole, provider: whole, providerAccountId: whole },
        },
        session: {
          keys: {
            GSI1PK: "SESSION#{sessionToken}",
            GSI1SK: "SESSION#{sessionToken}",
            type: "SESSION",
            userId: "{userId}",
            sessionToken: "{sessionToken}",
          },
          delimiters: { userId: whole, sessionToken: whole },
        },
      },
    },
  });

const until = 4_102_444_800;

const userItem = (id: string, email: string, rest: Record<string, string | null> = {}) => ({
  pk: `USER#${id}`,
  sk: `USER#${id}`,
  type: "USER",
  GSI1PK: `USER#${email}`,
  GSI1SK: `USER#${email}`,
  id,
  email,
  ...rest,
});
const accountItem = (userId: string, id: string, [provider, providerAccountId]: readonly [string, string]) => ({
  pk: `USER#${userId}`,
  sk: `ACCOUNT#${provider}#${providerAccountId}`,
  GSI1PK: `ACCOUNT#${provider}`,
  GSI1SK: `ACCOUNT#${providerAccountId}`,
  id,
  userId,
  provider,
  providerAccountId,
  type: "oauth",
  access_token: `token of ${providerAccountId}`,
});
const sessionItem = (userId: string, sessionToken: string, expires: number) => ({
  pk: `USER#${userId}`,
  sk: `SESSION#${sessionToken}`,
  GSI1PK: `SESSION#${sessionToken}`,
  GSI1SK: `SESSION#${sessionToken}`,
  type: "SESSION",
  sessionToken,
  userId,
  expires,
});
const tokenItem = (identifier: string, token: string) => ({
  pk: `VT#${identifier}`,
  sk: `VT#${token}`,
  type: "VT",
  identifier,
  token,
  expires: until,
});

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

const ada = { userId: "u-ada", email: "ada@example.org", name: "Ada", emailVerified: null };
const account = { provider: "github", providerAccountId: "77", id: "a-1", type: "oauth", access_token: "token of 77" };

export const authjs: Design<Db> = {
  name: "authjs",
  source: "Auth.js, DynamoDB adapter (@auth/dynamodb-adapter): github.com/nextauthjs/next-auth, packages/adapter-dynamodb",
  table: { ttl: "expires", key: ["pk", "sk"], indexes: { GSI1: { key: ["GSI1PK", "GSI1SK"] } } },
  graph,
  items: [
    userItem("u-ada", "ada@example.org", { name: "Ada", emailVerified: null }),
    userItem("u-bo", "bo@example.org"),
    accountItem("u-ada", "a-1", ["github", "77"]),
    accountItem("u-ada", "a-2", ["gitlab", "ada"]),
    accountItem("u-bo", "a-3", ["github", "78"]),
    sessionItem("u-ada", "s-1", until),
    sessionItem("u-bo", "s-2", until),
    tokenItem("bo@example.org", "t-1"),
  ],
  patterns: [
    {
      question: "getUser",
      ask: (db) => db.user.get({ userId: "u-ada" }),
      answer: ada,
      requests: ["GetItem: 'USER#u-ada' / 'USER#u-ada'"],
    },
    {
      question: "getUserByEmail",
      ask: (db) => db.find("user").where({ email: "ada@example.org" }).first(),
      answer: ada,
      requests: ["Query GSI1: GSI1PK = 'USER#ada@example.org' AND GSI1SK = 'USER#ada@example.org' (limit 1)"],
    },
    {
      question: "getUserByAccount",
      ask: async (db) => {
        const found = await db.find("account").where({ provider: "github", providerAccountId: "77" }).first();
        return found && (await db.user.get({ userId: found.userId }));
      },
      answer: ada,
      requests: ["Query GSI1: GSI1PK = 'ACCOUNT#github' AND GSI1SK = 'ACCOUNT#77' (limit 1)", "GetItem: 'USER#u-ada' / 'USER#u-ada'"],
    },
    {
      question: "getSessionAndUser",
      ask: async (db) => {
        const session = await db.find("session").where({ sessionToken: "s-1" }).first();
        return session && { session, user: await db.user.get({ userId: session.userId }) };
      },
      answer: { session: { userId: "u-ada", sessionToken: "s-1", expires: until }, user: ada },
      requests: ["Query GSI1: GSI1PK = 'SESSION#s-1' AND GSI1SK = 'SESSION#s-1' (limit 1)", "GetItem: 'USER#u-ada' / 'USER#u-ada'"],
    },
    {
      question: "everything of a user, which deleteUser reads",
      ask: (db) => db.user({ userId: "u-ada" }).collection(),
      answer: {
        node: ada,
        edges: {},
        parts: {
          account: [account, { ...account, provider: "gitlab", providerAccountId: "ada", id: "a-2", access_token: "token of ada" }].map(
            (one) => ({
              userId: "u-ada",
              ...one,
            }),
          ),
          session: [{ userId: "u-ada", sessionToken: "s-1", expires: until }],
        },
      },
      requests: ["Query: pk = 'USER#u-ada'"],
    },
  ],
  writes: [
    {
      what: "createUser",
      call: (db) => db.user.put({ userId: "u-cy", email: "cy@example.org", name: "Cy" }).orThrow(),
      puts: [userItem("u-cy", "cy@example.org", { name: "Cy" })],
    },
    {
      what: "linkAccount",
      call: (db) =>
        db.account.put({ userId: "u-cy" }, { ...account, providerAccountId: "79", id: "a-4", access_token: "token of 79" }).orThrow(),
      puts: [accountItem("u-cy", "a-4", ["github", "79"])],
    },
    {
      what: "createSession",
      call: (db) => db.session.put({ userId: "u-cy" }, { sessionToken: "s-3", expires: until }).orThrow(),
      puts: [sessionItem("u-cy", "s-3", until)],
    },
    {
      what: "updateSession",
      call: (db) => db.session.update({ userId: "u-cy" }, { sessionToken: "s-3" }, { expires: until + 60 }).orThrow(),
      puts: [sessionItem("u-cy", "s-3", until + 60)],
    },
    {
      what: "updateUser, with the index following the address",
      call: (db) => db.user.update({ userId: "u-bo" }, { email: "bo@example.net", name: "Bo" }).orThrow(),
      puts: [userItem("u-bo", "bo@example.net", { name: "Bo" })],
    },
    {
      what: "createVerificationToken",
      call: (db) => db.verification.put({ identifier: "cy@example.org", token: "t-2", expires: until }).orThrow(),
      puts: [tokenItem("cy@example.org", "t-2")],
    },
    {
      what: "useVerificationToken",
      call: (db) => db.verification.delete({ identifier: "bo@example.org", token: "t-1" }).orThrow(),
      deletes: [{ pk: "VT#bo@example.org", sk: "VT#t-1" }],
    },
    {
      what: "unlinkAccount",
      call: (db) => db.account.delete({ userId: "u-ada" }, { provider: "gitlab", providerAccountId: "ada" }).orThrow(),
      deletes: [{ pk: "USER#u-ada", sk: "ACCOUNT#gitlab#ada" }],
    },
    {
      what: "deleteSession",
      call: (db) => db.session.delete({ userId: "u-bo" }, { sessionToken: "s-2" }).orThrow(),
      deletes: [{ pk: "USER#u-bo", sk: "SESSION#s-2" }],
    },
    {
      what: "deleteUser, with all that is theirs",
      call: (db) => db.user.delete({ userId: "u-ada" }).orThrow(),
      deletes: [
        { pk: "USER#u-ada", sk: "USER#u-ada" },
        { pk: "USER#u-ada", sk: "ACCOUNT#github#77" },
        { pk: "USER#u-ada", sk: "SESSION#s-1" },
      ],
    },
  ],
};
