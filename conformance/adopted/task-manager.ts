import { defineGraph, node } from "edgetable";
import { z } from "zod";
import type { Design } from "./describe-design.ts";

const text = z.string();

const indexOf = (number: number) => ({ partitionKey: `gsi${number}pk`, sortKey: `gsi${number}sk` });

// ElectroDB's keys name their attributes and hold their values in lower case; the attributes hold them as they are.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      employee: node({
        key: "$task-manager#employee_{employee:lower}",
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
        key: "$task-manager#taskname_{taskName:lower}#project_{project:lower}#employee_{employee:lower}",
        schema: z.object({ taskName: text, project: text, employee: text, status: text, points: z.number(), description: text.optional() }),
      }),
      office: node({
        key: "$task-manager#country_{country:lower}#state_{state:lower}#city_{city:lower}#zip_{zip:lower}#officename_{officeName:lower}",
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
            gsi1pk: "$task-manager#officename_{officeName:lower}",
            gsi1sk: "$workplaces#employee_1#team_{team:lower}#title_{title:lower}#employee_{employee:lower}",
            gsi2pk: "$task-manager#team_{team:lower}",
            // A date has no case: read back, it can be ranged over.
            gsi2sk: "$employee_1#datehired_{dateHired}#title_{title:lower}",
            gsi3pk: "$task-manager#employee_{employee:lower}",
            gsi3sk: "$assignments#employee_1",
            gsi4pk: "$task-manager#title_{title:lower}",
            gsi4sk: "$employee_1#salary_{salary:lower}",
            gsi5pk: "$task-manager#manager_{manager:lower}",
            gsi5sk: "$employee_1#team_{team:lower}#officename_{officeName:lower}",
            __edb_v__: "1",
          },
          verbatim: ["dateHired"],
        },
        task: {
          keys: {
            pk: "$task-manager#taskname_{taskName:lower}",
            sk: "$task_1#project_{project:lower}#employee_{employee:lower}",
            gsi1pk: "$task-manager#project_{project:lower}",
            gsi1sk: "$task_1#employee_{employee:lower}#status_{status:lower}",
            gsi3pk: "$task-manager#employee_{employee:lower}",
            gsi3sk: "$assignments#task_1#project_{project:lower}#status_{status:lower}",
            gsi4pk: "$task-manager#status_{status:lower}",
            gsi4sk: "$task_1#project_{project:lower}#employee_{employee:lower}",
            __edb_v__: "1",
          },
        },
        office: {
          type: "Office",
          keys: {
            pk: "$task-manager#country_{country:lower}#state_{state:lower}",
            sk: "$office_1#city_{city:lower}#zip_{zip:lower}#officename_{officeName:lower}",
            gsi1pk: "$task-manager#officename_{officeName:lower}",
            gsi1sk: "$workplaces#office_1",
            __edb_v__: "1",
          },
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
  officeName: "North Branch",
  title: "Engineer II",
  salary: "000700",
  dateHired: "2019-03-04",
  ...one,
});
const employeeItem = (one: Hired) => ({
  pk: `$task-manager#employee_${one.employee.toLowerCase()}`,
  sk: "$employee_1",
  gsi1pk: "$task-manager#officename_north branch",
  gsi1sk: `$workplaces#employee_1#team_${one.team.toLowerCase()}#title_engineer ii#employee_${one.employee.toLowerCase()}`,
  gsi2pk: `$task-manager#team_${one.team.toLowerCase()}`,
  gsi2sk: "$employee_1#datehired_2019-03-04#title_engineer ii",
  gsi3pk: `$task-manager#employee_${one.employee.toLowerCase()}`,
  gsi3sk: "$assignments#employee_1",
  gsi4pk: "$task-manager#title_engineer ii",
  gsi4sk: "$employee_1#salary_000700",
  gsi5pk: `$task-manager#manager_${one.manager.toLowerCase()}`,
  gsi5sk: `$employee_1#team_${one.team.toLowerCase()}#officename_north branch`,
  __edb_e__: "employee",
  __edb_v__: "1",
  ...employee(one),
});
const task = (taskName: string, who: string, status: string) => ({ taskName, project: "Atlas", employee: who, status, points: 3 });
const taskItem = (name: string, who: string, status: string) => ({
  pk: `$task-manager#taskname_${name.toLowerCase()}`,
  sk: `$task_1#project_atlas#employee_${who.toLowerCase()}`,
  gsi1pk: "$task-manager#project_atlas",
  gsi1sk: `$task_1#employee_${who.toLowerCase()}#status_${status}`,
  gsi3pk: `$task-manager#employee_${who.toLowerCase()}`,
  gsi3sk: `$assignments#task_1#project_atlas#status_${status}`,
  gsi4pk: `$task-manager#status_${status}`,
  gsi4sk: `$task_1#project_atlas#employee_${who.toLowerCase()}`,
  __edb_e__: "task",
  __edb_v__: "1",
  ...task(name, who, status),
});
const office = { country: "Norway", state: "Vestland", city: "Bergen", zip: "5003", officeName: "North Branch", address: "Pier 4" };
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
  { employee: "Eva", team: "Product", manager: "Ida" },
  { employee: "Finn", team: "Product", manager: "Eva" },
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
    taskItem("Write docs", "Finn", "open"),
    taskItem("Fix login", "Finn", "closed"),
    taskItem("Fix logout", "Eva", "open"),
  ],
  patterns: [
    {
      question: "Employee.get",
      ask: (db) => db.employee.get({ employee: "Finn" }),
      answer: employee(finn),
      requests: ["GetItem: '$task-manager#employee_finn' / '$employee_1'"],
    },
    {
      question: "Employee.get by an id in another case",
      ask: (db) => db.employee.get({ employee: "FINN" }),
      answer: employee(finn),
      requests: ["GetItem: '$task-manager#employee_finn' / '$employee_1'"],
    },
    {
      question: "Task.query.task",
      ask: (db) => db.find("task").where({ taskName: "Write docs" }).rows(),
      answer: [task("Write docs", "Finn", "open")],
      requests: [
        "Query: pk = '$task-manager#taskname_write docs' AND begins_with(sk, '$task_1#project_') (filter taskName = 'Write docs')",
      ],
    },
    {
      question: "Task.query.project",
      ask: (db) => db.find("task").where({ project: "Atlas", employee: "Finn" }).using("gsi1pk-gsi1sk-index").rows(),
      answer: [task("Fix login", "Finn", "closed"), task("Write docs", "Finn", "open")],
      requests: [
        "Query gsi1pk-gsi1sk-index: gsi1pk = '$task-manager#project_atlas' AND begins_with(gsi1sk, '$task_1#employee_finn#status_') (filter project = 'Atlas' AND employee = 'Finn')",
      ],
    },
    {
      question: "Task.query.assigned, by project and status",
      ask: (db) => db.find("task").where({ employee: "Finn", project: "Atlas", status: "open" }).using("gsi3pk-gsi3sk-index").rows(),
      answer: [task("Write docs", "Finn", "open")],
      requests: [
        "Query gsi3pk-gsi3sk-index: gsi3pk = '$task-manager#employee_finn' AND gsi3sk = '$assignments#task_1#project_atlas#status_open' (filter employee = 'Finn' AND project = 'Atlas' AND status = 'open')",
      ],
    },
    {
      question: "Task.query.statuses",
      ask: (db) => db.find("task").where({ status: "open" }).rows(),
      answer: [task("Fix logout", "Eva", "open"), task("Write docs", "Finn", "open")],
      requests: [
        "Query gsi4pk-gsi4sk-index: gsi4pk = '$task-manager#status_open' AND begins_with(gsi4sk, '$task_1#project_') (filter status = 'open')",
      ],
    },
    {
      question: "Employee.query.coworkers, by team",
      ask: (db) => db.find("employee").where({ officeName: "North Branch", team: "Product" }).using("gsi1pk-gsi1sk-index").rows(),
      answer: [employee(eva), employee(finn)],
      requests: [
        "Query gsi1pk-gsi1sk-index: gsi1pk = '$task-manager#officename_north branch' AND begins_with(gsi1sk, '$workplaces#employee_1#team_product#title_') (filter officeName = 'North Branch' AND team = 'Product')",
      ],
    },
    {
      question: "Employee.query.teams, hired in a span of time",
      ask: (db) =>
        db
          .find("employee")
          .where({ team: "Product", dateHired: { between: ["2019-01-01", "2020-01-01"] } })
          .rows(),
      answer: [employee(eva), employee(finn)],
      requests: [
        "Query gsi2pk-gsi2sk-index: gsi2pk = '$task-manager#team_product' AND gsi2sk BETWEEN '$employee_1#datehired_2019-01-01' AND '$employee_1#datehired_2020-01-01$' (filter team = 'Product')",
      ],
      anyOrder: true,
    },
    {
      question: "Employee.query.roles",
      ask: (db) => db.find("employee").where({ title: "Engineer II", salary: "000700" }).rows(),
      answer: [employee(eva), employee(finn)],
      requests: [
        "Query gsi4pk-gsi4sk-index: gsi4pk = '$task-manager#title_engineer ii' AND gsi4sk = '$employee_1#salary_000700' (filter title = 'Engineer II' AND salary = '000700')",
      ],
      anyOrder: true,
    },
    {
      question: "Employee.query.directReports",
      ask: (db) => db.find("employee").where({ manager: "Eva" }).rows(),
      answer: [employee(finn)],
      requests: [
        "Query gsi5pk-gsi5sk-index: gsi5pk = '$task-manager#manager_eva' AND begins_with(gsi5sk, '$employee_1#team_') (filter manager = 'Eva')",
      ],
    },
    {
      question: "Office.query.locations",
      ask: (db) => db.find("office").where({ country: "Norway", state: "Vestland", city: "Bergen" }).rows(),
      answer: [office],
      requests: [
        "Query: pk = '$task-manager#country_norway#state_vestland' AND begins_with(sk, '$office_1#city_bergen#zip_') (filter country = 'Norway' AND state = 'Vestland' AND city = 'Bergen')",
      ],
    },
    {
      question: "the collection workplaces: an office and its employees",
      ask: (db) => db.find(["employee", "office"]).where({ officeName: "North Branch" }).using("gsi1pk-gsi1sk-index").rows(),
      answer: [
        { kind: "employee", row: employee(eva) },
        { kind: "employee", row: employee(finn) },
        { kind: "office", row: office },
      ],
      requests: [
        "Query gsi1pk-gsi1sk-index: gsi1pk = '$task-manager#officename_north branch' AND begins_with(gsi1sk, '$workplaces#') (filter officeName = 'North Branch')",
      ],
      anyOrder: true,
    },
    {
      question: "the collection assignments: an employee and their tasks",
      ask: (db) => db.find(["employee", "task"]).where({ employee: "Eva" }).using("gsi3pk-gsi3sk-index").rows(),
      answer: [
        { kind: "employee", row: employee(eva) },
        { kind: "task", row: task("Fix logout", "Eva", "open") },
      ],
      requests: [
        "Query gsi3pk-gsi3sk-index: gsi3pk = '$task-manager#employee_eva' AND begins_with(gsi3sk, '$assignments#') (filter employee = 'Eva')",
      ],
      anyOrder: true,
    },
  ],
  writes: [
    {
      what: "Employee.put",
      call: (db) => db.employee.put(employee({ employee: "Gro", team: "Finance", manager: "Eva" })).orThrow(),
      puts: [employeeItem({ employee: "Gro", team: "Finance", manager: "Eva" })],
    },
    {
      what: "Task.create",
      call: (db) => db.task.create(task("Plan party", "Gro", "open")).orThrow(),
      puts: [taskItem("Plan party", "Gro", "open")],
    },
    {
      what: "Task.patch of the status, which moves it in three indexes",
      call: (db) => db.task.update({ taskName: "Plan party", project: "Atlas", employee: "Gro" }, { status: "closed" }).orThrow(),
      puts: [taskItem("Plan party", "Gro", "closed")],
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
};
