import { defineGraph, node, part } from "edgetable";
import { z } from "zod";
import { whole, type Design } from "./describe-design.ts";

const text = z.string();
const summary = { name: text, hire_date: text };

/** Each item of an employee repeats the number of the key as a number. */
const repeated = { employeeid: "{employeeid:number}" };

const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      employee: node({
        key: "e#{employeeid:plain}",
        schema: z.object({
          ...summary,
          employeeid: z.int(),
          title: text,
          dept: text,
          city: text,
          state: text,
          previous_title: text,
          lock: text,
          is_manager: text.optional(),
        }),
      }),
    },
    parts: {
      currentTitle: part({ of: "employee", key: "current_title#{title}", schema: z.object({ ...summary, title: text }) }),
      previousTitle: part({ of: "employee", key: "previous_title#{title}", schema: z.object({ ...summary, title: text }) }),
      location: part({ of: "employee", key: "state#{state}", schema: z.object({ ...summary, state: text, city: text, dept: text }) }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      types: { employeeid: "N" },
      indexes: {
        GSI_1: { partitionKey: "GSI_1_PK", sortKey: "GSI_1_SK" },
        GSI_2: { partitionKey: "GSI_2_PK", sortKey: "GSI_2_SK" },
        GSI_3: { partitionKey: "GSI_3_PK", sortKey: "GSI_3_SK" },
      },
      nodes: {
        employee: {
          keys: {
            SK: "root",
            GSI_1_PK: "root",
            GSI_1_SK: "{name}",
            GSI_2_PK: "{is_manager}",
            GSI_2_SK: "root",
            GSI_3_PK: "state#{state}",
            GSI_3_SK: "{city}#{dept}",
            city_dept: "{city}#{dept}",
            is_manager: "{is_manager}",
            name: "{name}",
            state: "{state}",
            city: "{city}",
            dept: "{dept}",
            ...repeated,
          },
          delimiters: {
            name: whole,
            GSI_1_SK: whole,
            GSI_2_PK: whole,
            is_manager: whole,
            state: whole,
            city: whole,
            dept: whole,
          },
          sparse: ["GSI_2_PK", "GSI_2_SK", "is_manager"],
        },
      },
      parts: {
        currentTitle: {
          keys: { GSI_1_PK: "{key}", GSI_1_SK: "{name}", name: "{name}", ...repeated },
          delimiters: { name: whole, GSI_1_SK: whole },
        },
        previousTitle: {
          keys: { GSI_1_PK: "{key}", GSI_1_SK: "{name}", name: "{name}", ...repeated },
          delimiters: { name: whole, GSI_1_SK: whole },
        },
        location: {
          keys: { GSI_1_PK: "{key}", GSI_1_SK: "{name}", city_dept: "{city}#{dept}", name: "{name}", ...repeated },
          delimiters: { name: whole, GSI_1_SK: whole },
        },
      },
    },
  });

interface Person {
  readonly employeeid: number;
  readonly name: string;
  readonly title: string;
  readonly dept: string;
  readonly city: string;
  readonly state: string;
  readonly is_manager?: string;
}

const hired = "2015-06-07";
const root = (person: Person) => ({
  PK: `e#${person.employeeid}`,
  SK: "root",
  GSI_1_PK: "root",
  GSI_1_SK: person.name,
  GSI_3_PK: `state#${person.state}`,
  GSI_3_SK: `${person.city}#${person.dept}`,
  city_dept: `${person.city}#${person.dept}`,
  ...person,
  hire_date: hired,
  previous_title: "Clerk",
  lock: "0",
  ...(person.is_manager === undefined ? {} : { GSI_2_PK: person.is_manager, GSI_2_SK: "root" }),
});
const under = ({ employeeid, name }: Person, SK: string) => ({
  PK: `e#${employeeid}`,
  SK,
  GSI_1_PK: SK,
  GSI_1_SK: name,
  employeeid,
  name,
  hire_date: hired,
});
const itemsOf = (person: Person) => [
  root(person),
  under(person, `current_title#${person.title}`),
  under(person, "previous_title#Clerk"),
  { ...under(person, `state#${person.state}`), city_dept: `${person.city}#${person.dept}` },
];
const row = (person: Person) => ({
  ...person,
  hire_date: hired,
  previous_title: "Clerk",
  lock: "0",
});
const short = ({ employeeid, name }: Person) => ({ employeeid, name, hire_date: hired });

const gus: Person = { employeeid: 7, name: "Gus Hall", title: "Engineer", dept: "Development", city: "Reno", state: "NV" };
const hana: Person = { ...gus, employeeid: 1002, name: "Hana Moe", title: "Director", dept: "Support", is_manager: "1" };
const ivo: Person = { ...gus, employeeid: 31, name: "Ivo Ray", city: "Elko", dept: "Operation" };
const juno: Person = { ...gus, employeeid: 40, name: "Juno Fox", state: "UT", city: "Provo" };

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const employees: Design<Db> = {
  name: "employees",
  source: "AWS workshop, Advanced design patterns, exercises 4 to 6: github.com/aws-samples/amazon-dynamodb-labs, design-patterns",
  table: {
    key: ["PK", "SK"],
    indexes: {
      GSI_1: { key: ["GSI_1_PK", "GSI_1_SK"] },
      GSI_2: { key: ["GSI_2_PK", "GSI_2_SK"] },
      GSI_3: { key: ["GSI_3_PK", "GSI_3_SK"] },
    },
  },
  graph,
  items: [gus, hana, ivo].flatMap(itemsOf),
  patterns: [
    {
      question: "an employee",
      ask: (db) => db.employee.get({ employeeid: 7 }),
      answer: row(gus),
      requests: ["GetItem: 'e#7' / 'root'"],
    },
    {
      question: "employees by name",
      ask: (db) => db.find("employee").where({ name: "Hana Moe" }).rows(),
      answer: [row(hana)],
      requests: ["Query GSI_1: GSI_1_PK = 'root' AND GSI_1_SK = 'Hana Moe'"],
    },
    {
      question: "employees by state",
      ask: (db) => db.find("location").where({ state: "NV" }).rows(),
      answer: [gus, hana, ivo].map((one) => ({ ...short(one), state: "NV", city: one.city, dept: one.dept })),
      requests: ["Query GSI_1: GSI_1_PK = 'state#NV'"],
    },
    {
      question: "employees by current title",
      ask: (db) => db.find("currentTitle").where({ title: "Engineer" }).rows(),
      answer: [gus, ivo].map((one) => ({ ...short(one), title: "Engineer" })),
      requests: ["Query GSI_1: GSI_1_PK = 'current_title#Engineer'"],
    },
    {
      question: "employees by previous title",
      ask: (db) => db.find("previousTitle").where({ title: "Clerk" }).count(),
      answer: 3,
      requests: ["Query GSI_1: GSI_1_PK = 'previous_title#Clerk'"],
    },
    {
      question: "the managers, through the sparse index",
      ask: (db) => db.find("employee").where({ is_manager: "1" }).rows(),
      answer: [row(hana)],
      requests: ["Query GSI_2: GSI_2_PK = '1' AND GSI_2_SK = 'root'"],
    },
    {
      question: "employees of a city",
      ask: (db) => db.find("employee").where({ state: "NV", city: "Reno" }).rows(),
      answer: [row(gus), row(hana)],
      requests: ["Query GSI_3: GSI_3_PK = 'state#NV' AND begins_with(GSI_3_SK, 'Reno#')"],
    },
    {
      question: "employees of a city and the beginning of a department",
      ask: (db) =>
        db
          .find("employee")
          .where({ state: "NV", city: "Reno", dept: { beginsWith: "Su" } })
          .rows(),
      answer: [row(hana)],
      requests: ["Query GSI_3: GSI_3_PK = 'state#NV' AND begins_with(GSI_3_SK, 'Reno#Su')"],
    },
  ],
  writes: [
    {
      what: "an employee, in four items",
      call: (db) =>
        db.transact([
          db.employee.put(row(juno)),
          db.currentTitle.put({ employeeid: 40 }, { ...short(juno), title: "Engineer" }),
          db.previousTitle.put({ employeeid: 40 }, { ...short(juno), title: "Clerk" }),
          db.location.put({ employeeid: 40 }, { ...short(juno), state: "UT", city: "Provo", dept: "Development" }),
        ]),
      puts: itemsOf(juno),
    },
    {
      what: "an employee becomes a manager",
      call: (db) => db.employee.update({ employeeid: 40 }, { is_manager: "1" }).orThrow(),
      puts: [root({ ...juno, is_manager: "1" })],
    },
    {
      what: "a move to another city",
      call: (db) => db.employee.update({ employeeid: 40 }, { city: "Ogden" }).orThrow(),
      puts: [root({ ...juno, is_manager: "1", city: "Ogden" })],
    },
  ],
};
