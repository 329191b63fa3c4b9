import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";
import { whole, type Design } from "./describe-design.ts";

const text = z.string();
const repository = { repo_owner: text, repo_name: text };
const plan = z.object({ plan_type: text, plan_start_date: text });
const remark = z.object({ comment_id: text, created_at: text, comment: text, star_count: z.int() });

/** Computed attributes, and among them those that repeat one value of the keys. */
const withCopies = (keys: Readonly<Record<string, string>>, ...copies: readonly string[]) => ({
  keys,
  verbatim: copies,
});
const owner = ["repo_owner", "repo_name"] as const;
const issueNumber = { issue_number: "{issue_number:number}" };
const pullNumber = { pull_request_number: "{pull_request_number:number}" };

// A repository is in GSI2 beside its forks, a fork beside the others of its source: what GSI2 holds (`network…`) is filled from the
// source of a fork, and else from the repository itself.
// Comments lie in partitions of their own, under numbers without zeros: nodes without items.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "ACCOUNT#{username}",
        schema: z.object({ username: text, created_at: text, organizations: z.record(text, text), payment_plan: plan }),
      }),
      organization: node({
        key: "ACCOUNT#{organization_name}",
        schema: z.object({ organization_name: text, created_at: text, members: z.record(text, text), payment_plan: plan }),
      }),
      repo: node({
        key: "REPO#{repo_owner}#{repo_name}",
        schema: z.object({
          ...repository,
          created_at: text,
          updated_at: text,
          updated: text,
          networkOwner: text.optional(),
          networkName: text.optional(),
          networkSort: text.optional(),
          fork_source: z.object(repository).optional(),
          issues_and_pull_request_count: z.int(),
          fork_count: z.int(),
          star_count: z.int(),
        }),
      }),
      pull: node({
        key: "PR#{repo_owner}#{repo_name}#{pull_request_number:10}",
        schema: z.object({ ...repository, pull_request_number: z.int(), created_at: text, star_count: z.int() }),
      }),
      issueThread: node({
        key: "ISSUECOMMENT#{repo_owner}#{repo_name}#{issue_number:plain}",
        schema: z.object({ ...repository, issue_number: z.int() }),
        stored: false,
      }),
      pullThread: node({
        key: "PRCOMMENT#{repo_owner}#{repo_name}#{pull_request_number:plain}",
        schema: z.object({ ...repository, pull_request_number: z.int() }),
        stored: false,
      }),
      issueReaction: node({
        key: "ISSUEREACTION#{repo_owner}#{repo_name}#{issue:10}#{reacting_user}",
        schema: z.object({ ...repository, issue: z.int(), target_id: z.int(), reacting_user: text, reactions: z.set(text) }),
      }),
      commentReaction: node({
        key: "ISSUECOMMENTREACTION#{repo_owner}#{repo_name}#{comment}#{reacting_user}",
        schema: z.object({ ...repository, comment: text, target_id: text, reacting_user: text, reactions: z.set(text) }),
      }),
    },
    parts: {
      issue: part({
        of: "repo",
        key: "ISSUE#{issue_number:10}",
        schema: z.object({ issue_number: z.int(), created_at: text, status: text, star_count: z.int() }),
      }),
      issueComment: part({ of: "issueThread", key: "ISSUECOMMENT#{comment_id}", schema: remark }),
      pullComment: part({ of: "pullThread", key: "PRCOMMENT#{comment_id}", schema: remark }),
    },
    edges: {
      starredBy: edge({ from: "repo", to: "user", schema: z.object({ repo: z.object(repository) }) }),
      member: edge({ from: "user", to: "user", schema: z.object({ created_at: text, role: text }) }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      typeAttribute: "entity_type",
      // Users and organizations lie under the same keys, and entity_type tells them apart.
      sharedIds: true,
      types: { issue_number: "N", pull_request_number: "N" },
      indexes: {
        GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" },
        GSI2: { partitionKey: "GSI2PK", sortKey: "GSI2SK" },
        GSI3: { partitionKey: "GSI3PK", sortKey: "GSI3SK" },
      },
      nodes: {
        user: withCopies({ SK: "{key}", GSI3PK: "{key}", GSI3SK: "{key}" }, "username"),
        organization: withCopies({ SK: "{key}", GSI3PK: "{key}", GSI3SK: "{key}" }, "organization_name"),
        repo: {
          type: "repository",
          keys: {
            SK: "{key}",
            GSI1PK: "{key}",
            GSI1SK: "{key}",
            GSI2PK: "REPO#{networkOwner}#{networkName}",
            GSI2SK: "{networkSort}",
            GSI3PK: "ACCOUNT#{repo_owner}",
            GSI3SK: "#{updated}",
            repo_owner: "{repo_owner}",
            repo_name: "{repo_name}",
          },
          delimiters: { GSI2SK: whole, repo_owner: whole, repo_name: whole },
          fill: {
            networkOwner: ["{fork_source.repo_owner}", "{repo_owner}"],
            networkName: ["{fork_source.repo_name}", "{repo_name}"],
            networkSort: [{ with: "fork_source", value: "FORK#{repo_owner}" }, "#REPO#{repo_name}"],
          },
        },
        pull: {
          type: "pull_request",
          ...withCopies(
            { SK: "{key}", GSI1PK: "REPO#{repo_owner}#{repo_name}", GSI1SK: "PR#{pull_request_number:10}", ...pullNumber },
            ...owner,
          ),
        },
        issueReaction: { type: "reaction", ...withCopies({ SK: "{key}", target_type: "Issue" }, ...owner, "reacting_user") },
        commentReaction: { type: "reaction", ...withCopies({ SK: "{key}", target_type: "IssueComment" }, ...owner, "reacting_user") },
      },
      parts: {
        issue: withCopies(issueNumber, ...owner),
        issueComment: { type: "issue_comment", ...withCopies(issueNumber, ...owner, "comment_id") },
        pullComment: { type: "pull_request_comment", ...withCopies(pullNumber, ...owner, "comment_id") },
      },
      edges: {
        starredBy: { type: "star", keys: { SK: "STAR#{to.username}", staring_user: "{to.username}" }, delimiters: { staring_user: whole } },
        member: {
          type: "membership",
          keys: { SK: "MEMBERSHIP#{to.username}", organization: "{from.username}", username: "{to.username}" },
          delimiters: { organization: whole, username: whole },
        },
      },
    },
  });

const made = "2024-01-02T03:04:05Z";
const payment_plan = { plan_type: "Pro", plan_start_date: made };
const user = (username: string) => ({ username, created_at: made, organizations: { guild: "Owner" }, payment_plan });
const userItem = (username: string) => ({
  PK: `ACCOUNT#${username}`,
  SK: `ACCOUNT#${username}`,
  GSI3PK: `ACCOUNT#${username}`,
  GSI3SK: `ACCOUNT#${username}`,
  entity_type: "user",
  ...user(username),
});

const organization = (organization_name: string) => ({ organization_name, created_at: made, members: { mia: "Owner" }, payment_plan });
const organizationItem = (name: string) => ({
  PK: `ACCOUNT#${name}`,
  SK: `ACCOUNT#${name}`,
  GSI3PK: `ACCOUNT#${name}`,
  GSI3SK: `ACCOUNT#${name}`,
  entity_type: "organization",
  ...organization(name),
});

interface Repo {
  readonly repo_owner: string;
  readonly repo_name: string;
  readonly updated_at: string;
  readonly fork_source?: { readonly repo_owner: string; readonly repo_name: string };
}
const stored = (one: Repo) => ({ created_at: made, issues_and_pull_request_count: 3, fork_count: 1, star_count: 1, ...one });
const networkOf = ({ repo_owner, repo_name, fork_source }: Repo) =>
  fork_source
    ? { networkOwner: fork_source.repo_owner, networkName: fork_source.repo_name, networkSort: `FORK#${repo_owner}` }
    : { networkOwner: repo_owner, networkName: repo_name, networkSort: `#REPO#${repo_name}` };
const repo = (one: Repo) => ({ ...stored(one), ...networkOf(one), updated: one.updated_at });
const repoItem = (one: Repo) => {
  const key = `REPO#${one.repo_owner}#${one.repo_name}`;
  const { networkOwner, networkName, networkSort } = networkOf(one);
  return {
    PK: key,
    SK: key,
    GSI1PK: key,
    GSI1SK: key,
    GSI2PK: `REPO#${networkOwner}#${networkName}`,
    GSI2SK: networkSort,
    GSI3PK: `ACCOUNT#${one.repo_owner}`,
    GSI3SK: `#${one.updated_at}`,
    entity_type: "repository",
    ...stored(one),
  };
};

const tool = { repo_owner: "mia", repo_name: "tool" };
const tenDigits = (number: number) => String(number).padStart(10, "0");
const issue = (issue_number: number, status: string) => ({ ...tool, issue_number, created_at: made, status, star_count: 0 });
const issueItem = (number: number, status: string) => ({
  PK: "REPO#mia#tool",
  SK: `ISSUE#${tenDigits(number)}`,
  entity_type: "issue",
  ...issue(number, status),
});
const pull = (pull_request_number: number) => ({ ...tool, pull_request_number, created_at: made, star_count: 0 });
const pullItem = (number: number) => ({
  PK: `PR#mia#tool#${tenDigits(number)}`,
  SK: `PR#mia#tool#${tenDigits(number)}`,
  GSI1PK: "REPO#mia#tool",
  GSI1SK: `PR#${tenDigits(number)}`,
  entity_type: "pull_request",
  ...pull(number),
});
const remarkRow = (comment_id: string) => ({ comment_id, created_at: made, comment: `comment ${comment_id}`, star_count: 0 });
const issueRemark = (issue_number: number, id: string) => ({
  PK: `ISSUECOMMENT#mia#tool#${issue_number}`,
  SK: `ISSUECOMMENT#${id}`,
  entity_type: "issue_comment",
  ...tool,
  issue_number,
  ...remarkRow(id),
});
const pullRemark = (pull_request_number: number, id: string) => ({
  PK: `PRCOMMENT#mia#tool#${pull_request_number}`,
  SK: `PRCOMMENT#${id}`,
  entity_type: "pull_request_comment",
  ...tool,
  pull_request_number,
  ...remarkRow(id),
});
const star = (staring_user: string) => ({
  PK: "REPO#mia#tool",
  SK: `STAR#${staring_user}`,
  entity_type: "star",
  repo: tool,
  staring_user,
});
const membership = (username: string) => ({
  PK: "ACCOUNT#mia",
  SK: `MEMBERSHIP#${username}`,
  entity_type: "membership",
  organization: "mia",
  username,
  created_at: made,
  role: "Member",
});
const reactions = new Set(["heart", "rocket"]);
const issueReaction = {
  PK: "ISSUEREACTION#mia#tool#0000000001#noa",
  SK: "ISSUEREACTION#mia#tool#0000000001#noa",
  entity_type: "reaction",
  ...tool,
  target_type: "Issue",
  target_id: 1,
  reacting_user: "noa",
  reactions,
};
const commentReaction = {
  PK: "ISSUECOMMENTREACTION#mia#tool#2aK#noa",
  SK: "ISSUECOMMENTREACTION#mia#tool#2aK#noa",
  entity_type: "reaction",
  ...tool,
  target_type: "IssueComment",
  target_id: "2aK",
  reacting_user: "noa",
  reactions,
};

const [original, older, fork]: readonly [Repo, Repo, Repo] = [
  { ...tool, updated_at: "2024-03-03T00:00:00Z" },
  { repo_owner: "mia", repo_name: "old", updated_at: "2024-02-02T00:00:00Z" },
  { repo_owner: "noa", repo_name: "tool", updated_at: "2024-04-04T00:00:00Z", fork_source: tool },
];

const forked: Repo = { repo_owner: "lee", repo_name: "tool", updated_at: "2024-06-06T00:00:00Z", fork_source: tool };

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const github: Design<Db> = {
  name: "github",
  source:
    "The DynamoDB Book (Alex DeBrie), chapter 21, as in modyne by Marcus Griep: github.com/neoeinstein/modyne, dynamodb-book/ch21-github",
  table: {
    key: ["PK", "SK"],
    indexes: { GSI1: { key: ["GSI1PK", "GSI1SK"] }, GSI2: { key: ["GSI2PK", "GSI2SK"] }, GSI3: { key: ["GSI3PK", "GSI3SK"] } },
  },
  graph,
  items: [
    userItem("mia"),
    userItem("noa"),
    organizationItem("guild"),
    repoItem(original),
    repoItem(older),
    repoItem(fork),
    issueItem(1, "Open"),
    issueItem(12, "Closed"),
    pullItem(7),
    pullItem(10),
    issueRemark(1, "2aK"),
    pullRemark(7, "2aL"),
    star("noa"),
    membership("noa"),
    issueReaction,
    commentReaction,
  ],
  patterns: [
    {
      question: "a repository",
      ask: (db) => db.repo.get(tool),
      answer: repo(original),
      requests: ["GetItem: 'REPO#mia#tool' / 'REPO#mia#tool'"],
    },
    {
      question: "an account: a user and an organization lie under one key",
      ask: async (db) => [
        await db.organization.get({ organization_name: "guild" }),
        await db.user.get({ username: "guild" }),
        await db.organization.get({ organization_name: "mia" }),
      ],
      answer: [organization("guild"), undefined, undefined],
      requests: ["guild", "guild", "mia"].map((name) => `GetItem: 'ACCOUNT#${name}' / 'ACCOUNT#${name}'`),
    },
    {
      question: "the issues of a repository, the newest first",
      ask: (db) => db.repo(tool).parts("issue").reverse().limit(10).all(),
      answer: [issue(12, "Closed"), issue(1, "Open")],
      // Published: a limit of 10. Parts are read as if a filter could leave some out.
      requests: ["Query: PK = 'REPO#mia#tool' AND begins_with(SK, 'ISSUE#') (descending, limit 10)"],
    },
    {
      question: "the pull requests of a repository, the newest first",
      ask: (db) => db.find("pull").where(tool).using("GSI1").reverse().rows(),
      answer: [pull(10), pull(7)],
      requests: ["Query GSI1: GSI1PK = 'REPO#mia#tool' AND begins_with(GSI1SK, 'PR#') (descending)"],
    },
    {
      question: "a repository and its forks",
      ask: (db) => db.find("repo").where({ networkOwner: "mia", networkName: "tool" }).rows(),
      answer: [repo(original), repo(fork)],
      requests: ["Query GSI2: GSI2PK = 'REPO#mia#tool'"],
    },
    {
      question: "the repositories of an account, the last changed first",
      ask: (db) => db.find("repo").where({ repo_owner: "mia" }).using("GSI3").reverse().rows(),
      answer: [repo(original), repo(older)],
      requests: ["Query GSI3: GSI3PK = 'ACCOUNT#mia' AND begins_with(GSI3SK, '#') (descending)"],
    },
    {
      question: "the comments on an issue",
      ask: (db) =>
        db
          .issueThread({ ...tool, issue_number: 1 })
          .parts("issueComment")
          .all(),
      answer: [{ ...tool, issue_number: 1, ...remarkRow("2aK") }],
      requests: ["Query: PK = 'ISSUECOMMENT#mia#tool#1' AND begins_with(SK, 'ISSUECOMMENT#')"],
    },
    {
      question: "the comments on a pull request",
      ask: (db) =>
        db
          .pullThread({ ...tool, pull_request_number: 7 })
          .parts("pullComment")
          .all(),
      answer: [{ ...tool, pull_request_number: 7, ...remarkRow("2aL") }],
      requests: ["Query: PK = 'PRCOMMENT#mia#tool#7' AND begins_with(SK, 'PRCOMMENT#')"],
    },
    {
      question: "who starred a repository",
      ask: (db) => db.repo(tool).out("starredBy").nodes(),
      answer: [user("noa")],
      requests: ["Query: PK = 'REPO#mia#tool' AND begins_with(SK, 'STAR#')", "BatchGetItem: 'ACCOUNT#noa' / 'ACCOUNT#noa'"],
    },
    {
      question: "the members of an organization",
      ask: (db) => db.user({ username: "mia" }).out("member").edges(),
      answer: [{ from: { username: "mia" }, to: { username: "noa" }, created_at: made, role: "Member" }],
      requests: ["Query: PK = 'ACCOUNT#mia' AND begins_with(SK, 'MEMBERSHIP#')"],
    },
    {
      question: "a user's reaction to an issue",
      ask: (db) => db.issueReaction.get({ ...tool, issue: 1, reacting_user: "noa" }),
      answer: { ...tool, issue: 1, target_id: 1, reacting_user: "noa", reactions },
      requests: ["GetItem: 'ISSUEREACTION#mia#tool#0000000001#noa' / 'ISSUEREACTION#mia#tool#0000000001#noa'"],
    },
  ],
  writes: [
    {
      what: "an issue, counted at its repository",
      call: (db) =>
        db.transact([
          db.issue.create(tool, { issue_number: 13, created_at: made, status: "Open", star_count: 0 }),
          db.repo.update(tool, { add: { issues_and_pull_request_count: 1 } }),
        ]),
      puts: [issueItem(13, "Open"), { ...repoItem(original), issues_and_pull_request_count: 4 }],
    },
    {
      what: "a pull request",
      call: (db) => db.pull.create(pull(14)).orThrow(),
      puts: [pullItem(14)],
    },
    {
      what: "an organization, which does not take the place of a user",
      call: async (db) => {
        await db.organization.put(organization("noa"));
        await db.organization.put(organization("crew")).orThrow();
      },
      puts: [organizationItem("crew")],
    },
    {
      what: "a star",
      call: (db) => db.starredBy.link(tool, { username: "mia" }, { repo: tool }).orThrow(),
      puts: [star("mia")],
    },
    {
      what: "a comment on a pull request",
      call: (db) => db.pullComment.create({ ...tool, pull_request_number: 14 }, remarkRow("2aM")).orThrow(),
      puts: [pullRemark(14, "2aM")],
    },
    {
      what: "a fork, beside its source",
      call: (db) => db.repo.create({ ...stored(forked), updated: forked.updated_at }).orThrow(),
      puts: [repoItem(forked)],
    },
    {
      what: "a fork that leaves its source",
      call: (db) => db.repo.update({ repo_owner: "lee", repo_name: "tool" }, { remove: ["fork_source"] }).orThrow(),
      puts: [repoItem({ repo_owner: "lee", repo_name: "tool", updated_at: forked.updated_at })],
    },
    {
      what: "a push, which moves the repository to the front",
      call: (db) => db.repo.update(tool, { updated_at: "2024-05-05T00:00:00Z", updated: "2024-05-05T00:00:00Z" }).orThrow(),
      puts: [{ ...repoItem({ ...original, updated_at: "2024-05-05T00:00:00Z" }), issues_and_pull_request_count: 4 }],
    },
  ],
};
