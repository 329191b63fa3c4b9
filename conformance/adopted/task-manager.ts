import { defineGraph, node } from "edgetable";
import { z } from "zod";
import { whole, type Design } from "./describe-design.ts";

const text = z.string();

/** Computed attributes that hold one attribute each, as ElectroDB stores them beside the keys. */
const plain = <const Name extends string>(...names: readonly Name[]) => Object.fromEntries(names.map((name) => [name, `{${name}}`]));
const alone = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, whole]));
const indexOf = (number: number) => ({ partitionKey: `gsi${number}pk`, sortKey: `gsi${number}sk` });

// ElectroDB's keys name their attributes and write their values in lower case: values here are in lower case.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      employee: node({
        key: "$task-manager#employee_{employee}",
        schema: z.object({
          employee: text,
          firstName: text,
          lastName: text,
          officeName: text,
          title: text,
          team: text,
          salary: text,
          manager: text,
          dateHired: text,
        }),
      }),
      task: node({
        key: "$task-manager#taskname_{taskName}#project_{project}#employee_{employee}",
        schema: z.object({ taskName: text, project: text, employee: text, status: text, points: z.number(), description: text.optional() }),
      }),
      office: node({
        key: "$task-manager#country_{country}#state_{state}#city_{city}#zip_{zip}#officename_{officeName}",
        schema: z.object({ country: text, state: text, city: text, zip: text, officeName: text, address: text }),
      }),
    },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      typeAttribute: "__edb_e__",
      indexes: {
        "gsi1pk-gsi1sk-index": indexOf(1),
        "gsi2pk-gsi2sk-index": indexOf(2),
        "gsi3pk-gsi3sk-index": indexOf(3),
        "gsi4pk-gsi4sk-index": indexOf(4),
        "gsi5pk-gsi5sk-index": indexOf(5),
      },
      nodes: {
        employee: {
          keys: {
            sk: "$employee_1",
            gsi1pk: "$task-manager#officename_{officeName}",
            gsi1sk: "$workplaces#employee_1#team_{team}#title_{title}#employee_{employee}",
            gsi2pk: "$task-manager#team_{team}",
            gsi2sk: "$employee_1#datehired_{dateHired}#title_{title}",
            gsi3pk: "$task-manager#employee_{employee}",
            gsi3sk: "$assignments#employee_1",
            gsi4pk: "$task-manager#title_{title}",
            gsi4sk: "$employee_1#salary_{salary}",
            gsi5pk: "$task-manager#manager_{manager}",
            gsi5sk: "$employee_1#team_{team}#officename_{officeName}",
            __edb_v__: "1",
            ...plain("employee", "officeName", "title", "team", "salary", "manager", "dateHired"),
          },
          delimiters: alone("employee", "officeName", "title", "team", "salary", "manager", "dateHired"),
        },
        task: {
          keys: {
            pk: "$task-manager#taskname_{taskName}",
            sk: "$task_1#project_{project}#employee_{employee}",
            gsi1pk: "$task-manager#project_{project}",
            gsi1sk: "$task_1#employee_{employee}#status_{status}",
            gsi3pk: "$task-manager#employee_{employee}",
            gsi3sk: "$assignments#task_1#project_{project}#status_{status}",
            gsi4pk: "$task-manager#status_{status}",
            gsi4sk: "$task_1#project_{project}#employee_{employee}",
            __edb_v__: "1",
            ...plain("taskName", "project", "employee", "status"),
          },
          delimiters: alone("taskName", "project", "employee", "status"),
        },
        office: {
          type: "Office",
          keys: {
            pk: "$task-manager#country_{country}#state_{state}",
            sk: "$office_1#city_{city}#zip_{zip}#officename_{officeName}",
            gsi1pk: "$task-manager#officename_{officeName}",
            gsi1sk: "$workplaces#office_1",
            __edb_v__: "1",
            ...plain("country", "state", "city", "zip", "officeName"),
          },
          delimiters: alone("country", "state", "city", "zip", "officeName"),
        },
      },
    },
  });

interface Hired {
  readonly employee: string;
  readonly team: string;
  readonly manager: string;
}
const employee = (one: Hired) => ({
  firstName: "Ola",
  lastName: "Berg",
  officeName: "north branch",
  title: "engineer ii",
  salary: "000700",
  dateHired: "2019-03-04",
  ...one,
});
const employeeItem = (one: Hired) => ({
  pk: `$task-manager#employee_${one.employee}`,
  sk: "$employee_1",
  gsi1pk: "$task-manager#officename_north branch",
  gsi1sk: `$workplaces#employee_1#team_${one.team}#title_engineer ii#employee_${one.employee}`,
  gsi2pk: `$task-manager#team_${one.team}`,
  gsi2sk: "$employee_1#datehired_2019-03-04#title_engineer ii",
  gsi3pk: `$task-manager#employee_${one.employee}`,
  gsi3sk: "$assignments#employee_1",
  gsi4pk: "$task-manager#title_engineer ii",
  gsi4sk: "$employee_1#salary_000700",
  gsi5pk: `$task-manager#manager_${one.manager}`,
  gsi5sk: `$employee_1#team_${one.team}#officename_north branch`,
  __edb_e__: "employee",
  __edb_v__: "1",
  ...employee(one),
});
const task = (taskName: string, who: string, status: string) => ({ taskName, project: "atlas", employee: who, status, points: 3 });
const taskItem = (name: string, who: string, status: string) => ({
  pk: `$task-manager#taskname_${name}`,
  sk: `$task_1#project_atlas#employee_${who}`,
  gsi1pk: "$task-manager#project_atlas",
  gsi1sk: `$task_1#employee_${who}#status_${status}`,
  gsi3pk: `$task-manager#employee_${who}`,
  gsi3sk: `$assignments#task_1#project_atlas#status_${status}`,
  gsi4pk: `$task-manager#status_${status}`,
  gsi4sk: `$task_1#project_atlas#employee_${who}`,
  __edb_e__: "task",
  __edb_v__: "1",
  ...task(name, who, status),
});
const office = { country: "norway", state: "vestland", city: "bergen", zip: "5003", officeName: "north branch", address: "Pier 4" };
const officeItem = {
  pk: "$task-manager#country_norway#state_vestland",
  sk: "$office_1#city_bergen#zip_5003#officename_north branch",
  gsi1pk: "$task-manager#officename_north branch",
  gsi1sk: "$workplaces#office_1",
  __edb_e__: "Office",
  __edb_v__: "1",
  ...office,
};

const [eva, finn] = [
  { employee: "eva", team: "product", manager: "ida" },
  { employee: "finn", team: "product", manager: "eva" },
] as const;

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const taskManager: Design<Db> = {
  name: "task-manager",
  source: "ElectroDB (Tyler W. Walch), example taskManager: github.com/tywalch/electrodb, examples/taskManager",
  table: {
    key: ["pk", "sk"],
    indexes: {
      "gsi1pk-gsi1sk-index": { key: ["gsi1pk", "gsi1sk"] },
      "gsi2pk-gsi2sk-index": { key: ["gsi2pk", "gsi2sk"] },
      "gsi3pk-gsi3sk-index": { key: ["gsi3pk", "gsi3sk"] },
      "gsi4pk-gsi4sk-index": { key: ["gsi4pk", "gsi4sk"] },
      "gsi5pk-gsi5sk-index": { key: ["gsi5pk", "gsi5sk"] },
    },
  },
  graph,
  items: [
    employeeItem(eva),
    employeeItem(finn),
    officeItem,
    taskItem("write docs", "finn", "open"),
    taskItem("fix login", "finn", "closed"),
    taskItem("fix logout", "eva", "open"),
  ],
  patterns: [
    {
      question: "Employee.get",
      ask: (db) => db.employee.get({ employee: "finn" }),
      answer: employee(finn),
      requests: ["GetItem: '$task-manager#employee_finn' / '$employee_1'"],
    },
    {
      question: "Task.query.task",
      ask: (db) => db.find("task").where({ taskName: "write docs" }).rows(),
      answer: [task("write docs", "finn", "open")],
      requests: ["Query: pk = '$task-manager#taskname_write docs'"],
    },
    {
      question: "Task.query.project",
      ask: (db) => db.find("task").where({ project: "atlas", employee: "finn" }).using("gsi1pk-gsi1sk-index").rows(),
      answer: [task("fix login", "finn", "closed"), task("write docs", "finn", "open")],
      requests: [
        "Query gsi1pk-gsi1sk-index: gsi1pk = '$task-manager#project_atlas' AND begins_with(gsi1sk, '$task_1#employee_finn#status_')",
      ],
    },
    {
      question: "Task.query.assigned, by project and status",
      ask: (db) => db.find("task").where({ employee: "finn", project: "atlas", status: "open" }).using("gsi3pk-gsi3sk-index").rows(),
      answer: [task("write docs", "finn", "open")],
      requests: [
        "Query gsi3pk-gsi3sk-index: gsi3pk = '$task-manager#employee_finn' AND gsi3sk = '$assignments#task_1#project_atlas#status_open'",
      ],
    },
    {
      question: "Task.query.statuses",
      ask: (db) => db.find("task").where({ status: "open" }).rows(),
      answer: [task("fix logout", "eva", "open"), task("write docs", "finn", "open")],
      requests: ["Query gsi4pk-gsi4sk-index: gsi4pk = '$task-manager#status_open'"],
    },
    {
      question: "Employee.query.coworkers, by team",
      ask: (db) => db.find("employee").where({ officeName: "north branch", team: "product" }).using("gsi1pk-gsi1sk-index").rows(),
      answer: [employee(eva), employee(finn)],
      requests: [
        "Query gsi1pk-gsi1sk-index: gsi1pk = '$task-manager#officename_north branch' AND begins_with(gsi1sk, '$workplaces#employee_1#team_product#title_')",
      ],
    },
    {
      question: "Employee.query.teams, hired in a span of time",
      ask: (db) =>
        db
          .find("employee")
          .where({ team: "product", dateHired: { between: ["2019-01-01", "2020-01-01"] } })
          .rows(),
      answer: [employee(eva), employee(finn)],
      requests: [
        "Query gsi2pk-gsi2sk-index: gsi2pk = '$task-manager#team_product' AND gsi2sk BETWEEN '$employee_1#datehired_2019-01-01' AND '$employee_1#datehired_2020-01-01$'",
      ],
      anyOrder: true,
    },
    {
      question: "Employee.query.roles",
      ask: (db) => db.find("employee").where({ title: "engineer ii", salary: "000700" }).rows(),
      answer: [employee(eva), employee(finn)],
      requests: ["Query gsi4pk-gsi4sk-index: gsi4pk = '$task-manager#title_engineer ii' AND gsi4sk = '$employee_1#salary_000700'"],
      anyOrder: true,
    },
    {
      question: "Employee.query.directReports",
      ask: (db) => db.find("employee").where({ manager: "eva" }).rows(),
      answer: [employee(finn)],
      requests: ["Query gsi5pk-gsi5sk-index: gsi5pk = '$task-manager#manager_eva'"],
    },
    {
      question: "Office.query.locations",
      ask: (db) => db.find("office").where({ country: "norway", state: "vestland", city: "bergen" }).rows(),
      answer: [office],
      requests: ["Query: pk = '$task-manager#country_norway#state_vestland' AND begins_with(sk, '$office_1#city_bergen#zip_')"],
    },
    {
      question: "the collection workplaces: an office and its employees",
      ask: (db) => db.find(["employee", "office"]).where({ officeName: "north branch" }).using("gsi1pk-gsi1sk-index").rows(),
      answer: [
        { kind: "employee", row: employee(eva) },
        { kind: "employee", row: employee(finn) },
        { kind: "office", row: office },
      ],
      // Published: one Query of the partition. A search for two kinds sends one for each.
      requests: [
        "Query gsi1pk-gsi1sk-index: gsi1pk = '$task-manager#officename_north branch' AND begins_with(gsi1sk, '$workplaces#employee_1#team_')",
        "Query gsi1pk-gsi1sk-index: gsi1pk = '$task-manager#officename_north branch' AND gsi1sk = '$workplaces#office_1'",
      ],
      anyOrder: true,
    },
    {
      question: "the collection assignments: an employee and their tasks",
      ask: (db) => db.find(["employee", "task"]).where({ employee: "eva" }).using("gsi3pk-gsi3sk-index").rows(),
      answer: [
        { kind: "employee", row: employee(eva) },
        { kind: "task", row: task("fix logout", "eva", "open") },
      ],
      requests: [
        "Query gsi3pk-gsi3sk-index: gsi3pk = '$task-manager#employee_eva' AND gsi3sk = '$assignments#employee_1'",
        "Query gsi3pk-gsi3sk-index: gsi3pk = '$task-manager#employee_eva' AND begins_with(gsi3sk, '$assignments#task_1#project_')",
      ],
      anyOrder: true,
    },
  ],
  writes: [
    {
      what: "Employee.put",
      call: (db) => db.employee.put(employee({ employee: "gro", team: "finance", manager: "eva" })).orThrow(),
      puts: [employeeItem({ employee: "gro", team: "finance", manager: "eva" })],
    },
    {
      what: "Task.create",
      call: (db) => db.task.create(task("plan party", "gro", "open")).orThrow(),
      puts: [taskItem("plan party", "gro", "open")],
    },
    {
      what: "Task.patch of the status, which moves it in three indexes",
      call: (db) => db.task.update({ taskName: "plan party", project: "atlas", employee: "gro" }, { status: "closed" }).orThrow(),
      puts: [taskItem("plan party", "gro", "closed")],
    },
    {
      what: "Office.delete",
      call: (db) => {
        const { address: _address, ...id } = office;
        return db.office.delete(id).orThrow();
      },
      deletes: [{ pk: officeItem.pk, sk: officeItem.sk }],
    },
  ],
  cannot: [
    {
      needs: 'values in lower case in keys beside the value as it is: "Eva" is found under "$task-manager#employee_eva"',
      attempt: async (db) => {
        const { requests } = await db.employee.put(employee({ employee: "Eva", team: "product", manager: "ida" })).explain();
        const inputs = requests.map(({ input }) => input as { readonly Item: Readonly<Record<string, unknown>> });
        return inputs[0]?.Item["pk"];
      },
      refusal: '(no refusal: {"S":"$task-manager#employee_Eva"})',
    },
  ],
};
