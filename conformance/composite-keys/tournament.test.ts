import type { Transport } from "edgetable";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verify } from "edgetable/verify";
import { endpoint, forthAndBack, freshTableName, openTransport } from "./engine.ts";
import { matches, naively, tournamentIn, type Match } from "./tournament.ts";

describe.skipIf(endpoint === undefined)("the tournament of the developer guide", () => {
  let transport: Transport;
  const open = async (rows: readonly Match[] = matches) => {
    const table = freshTableName("matches");
    const db = tournamentIn(table).connect({ transport });
    await db.table.create();
    for (const row of rows) await db.match.create(row).orThrow();
    return { table, db };
  };
  let shared: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    transport = openTransport();
    shared = await open();
  });
  afterAll(() => transport.close());

  const REGION = [
    ["tournamentId", "region"],
    ["round", "bracket", "matchId"],
  ] as const;
  const PLAYER = [["player1Id"], ["matchDate", "round"]] as const;
  const place = { tournamentId: "WINTER2024", region: "NA-EAST" };
  const isThere = (row: Match) => row.tournamentId === "WINTER2024" && row.region === "NA-EAST";

  test("the table is created as the model says", async () => {
    expect(await shared.db.table.diff()).toEqual([]);
    expect(await shared.db.match.get({ matchId: "match-003" })).toEqual(matches[2]);
  });

  test("each pattern of the guide by the region", async () => {
    const { db } = shared;
    const find = async (where: object) => db.find("match").where(where).rows();
    expect(await find(place)).toEqual(naively(matches, isThere, ...REGION));
    const semifinals = (row: Match) => isThere(row) && row.round === "SEMIFINALS";
    expect(await find({ ...place, round: "SEMIFINALS" })).toEqual(naively(matches, semifinals, ...REGION));
    const upper = (row: Match) => semifinals(row) && row.bracket === "UPPER";
    expect(await find({ ...place, round: "SEMIFINALS", bracket: "UPPER" })).toEqual(naively(matches, upper, ...REGION));
    const one = (row: Match) => upper(row) && row.matchId === "match-002";
    expect(await find({ ...place, round: "SEMIFINALS", bracket: "UPPER", matchId: "match-002" })).toEqual(naively(matches, one, ...REGION));
  });

  test("ranges and prefixes of the last attribute given, and filters behind a gap", async () => {
    const { db } = shared;
    const find = async (where: object) => db.find("match").where(where).rows();
    expect(await find({ ...place, round: { beginsWith: "S" } })).toEqual(
      naively(matches, (row) => isThere(row) && row.round.startsWith("S"), ...REGION),
    );
    expect(await find({ ...place, round: { between: ["G", "R"] } })).toEqual(
      naively(matches, (row) => isThere(row) && row.round >= "G" && row.round <= "R", ...REGION),
    );
    expect(await find({ ...place, round: "SEMIFINALS", bracket: { lt: "V" } })).toHaveLength(2);
    expect(await find({ ...place, bracket: "UPPER" })).toEqual(
      naively(matches, (row) => isThere(row) && row.bracket === "UPPER", ...REGION),
    );
  });

  test("each pattern of the guide by the player", async () => {
    const { db } = shared;
    const find = async (where: object) =>
      db
        .find("match")
        .where({ player1Id: "101", ...where })
        .rows();
    const isOf = (row: Match) => row.player1Id === "101";
    expect(await find({})).toEqual(naively(matches, isOf, ...PLAYER));
    expect(await find({ matchDate: "2024-01-18" })).toEqual(
      naively(matches, (row) => isOf(row) && row.matchDate === "2024-01-18", ...PLAYER),
    );
    expect(await find({ matchDate: { between: ["2024-01-01", "2024-01-31"] } })).toEqual(
      naively(matches, (row) => isOf(row) && row.matchDate.startsWith("2024-01"), ...PLAYER),
    );
    expect(await find({ matchDate: "2024-01-18", round: "SEMIFINALS" })).toEqual(
      naively(matches, (row) => isOf(row) && row.matchId === "match-002", ...PLAYER),
    );
  });

  test.each([1, 2, 3])("pages of %i, forth and back, in both directions", async (limit) => {
    const { db } = shared;
    const order = naively(matches, isThere, ...REGION);
    const search = db.find("match").where(place);
    const whole = { forth: order, back: order };
    expect(await forthAndBack((options) => search.page(options), limit)).toEqual(whole);
    const reversed = order.toReversed();
    expect(await forthAndBack((options) => search.reverse().page(options), limit)).toEqual({ forth: reversed, back: reversed });
  });

  test("numbers sort as numbers, negative ones first", async () => {
    const { db } = shared;
    const find = async (where: object) => (await db.find("match").where(where).using("byScore").rows()).map(({ score }) => score);
    const quarter = { region: "NA-EAST", round: "QUARTERFINALS" };
    expect(await find(quarter)).toEqual([-10, 0, 10]);
    expect(await find({ ...quarter, score: { gt: -10 } })).toEqual([0, 10]);
    expect(await find({ ...quarter, score: { between: [-10.5, 0] } })).toEqual([-10, 0]);
    expect(await find({ ...quarter, score: 10, matchDate: { gte: "2024" } })).toEqual([10]);
  });

  test("an update moves an item within the index, and out of it and into it again", async () => {
    const { db } = await open();
    const round = async (name: string) =>
      (
        await db
          .find("match")
          .where({ ...place, round: name })
          .rows()
      ).map(({ matchId }) => matchId);
    await db.match.update({ matchId: "match-004" }, { round: "FINALS", bracket: "ALL" }).orThrow();
    expect(await round("FINALS")).toEqual(["match-004", "match-001"]);
    expect(await round("QUARTERFINALS")).toEqual([]);
    const of = async () => (await db.find("match").where({ player1Id: "101" }).rows()).map(({ matchId }) => matchId);
    expect(await of()).toContain("match-004");
    await db.match.update({ matchId: "match-004" }, { remove: ["player1Id"] }).orThrow();
    expect(await of()).not.toContain("match-004");
    await db.match.update({ matchId: "match-004" }, { player1Id: "101", matchDate: "2025-01-01" }).orThrow();
    expect((await of()).at(-1)).toBe("match-004");
    expect(await verify(db)).toMatchObject({ clean: true });
  });

  test("an item that lacks one of the attributes is not in the index, and is read by its key", async () => {
    const { db } = await open([]);
    const { player1Id: _player, score: _score, ...row } = matches[0]!;
    await db.match.create(row).orThrow();
    expect(await db.match.get({ matchId: row.matchId })).toEqual(row);
    expect(await db.find("match").where({ player1Id: "101" }).rows()).toEqual([]);
    expect(await db.find("match").where(place).rows()).toEqual([row]);
    // The index by score does not hold all matches: a search that does not ask for a score reads it only by name.
    await expect(db.find("match").where({ region: row.region, round: row.round }).rows()).rejects.toMatchObject({ code: "plan.noIndex" });
    expect(await db.find("match").where({ region: row.region, round: row.round }).using("byScore").rows()).toEqual([]);
  });
});
