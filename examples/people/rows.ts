import type { PeopleDb } from "./model.ts";

const birthday = { dateId: "2", date: "1980-12-19" };
const london = { placeId: "3", country: "UK", region: "England", city: "London" };
const austin = { placeId: "4", country: "USA", region: "Texas", city: "Austin" };
const java = { skillId: "6", skill: "Java Developer" };
const guitar = { skillId: "7", skill: "Guitar" };

const people = [
  { personId: "1", name: "John Doe", bornIn: austin, skill: java, level: "Senior" },
  { personId: "5", name: "Jane Smith", bornIn: london, skill: guitar, level: "Advanced" },
];

const loadReferences = async (db: PeopleDb): Promise<void> => {
  await db.date.create(birthday).orThrow();
  for (const place of [london, austin]) await db.place.create(place).orThrow();
  for (const skill of [java, guitar]) await db.skill.create(skill).orThrow();
};

/** Writes the fifteen rows. An edge's data repeats what is known of the node that it leads to. */
export const load = async (db: PeopleDb): Promise<void> => {
  await loadReferences(db);
  for (const { personId, name, bornIn, skill, level } of people) {
    const { placeId, ...place } = bornIn;
    await db.person.create({ personId, name }).orThrow();
    await db.bornOn.link({ personId }, { dateId: birthday.dateId }, { date: birthday.date }).orThrow();
    await db.bornIn.link({ personId }, { placeId }, place).orThrow();
    await db.hasSkill.link({ personId }, { skillId: skill.skillId }, { skill: skill.skill, level }).orThrow();
  }
  // Both copies of a friendship in one transaction, each with the other's name.
  await db.friendOf.link({ personId: "1" }, { personId: "5" }, { name: "Jane Smith" }, { reverse: { name: "John Doe" } }).orThrow();
};
