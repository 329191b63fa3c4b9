import { z } from "zod";
import { type GraphDefinition, edge, node, part } from "./definition.ts";

const text = z.string();
const optional = z.string().optional();

/** Seed 004: hyphenated index attributes, METADATA items. */
export const education: GraphDefinition = {
  table: "Education",
  nodes: {
    student: node({
      key: "STUDENT#{studentId}",
      schema: z.object({ studentId: text, name: text, email: text, yearLevel: z.int() }),
      unique: ["email"],
    }),
    course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: text, name: text, professor: text, credits: z.int() }) }),
  },
  edges: { enrolledIn: edge({ from: "student", to: "course", schema: z.object({ at: text, grade: optional }) }) as never },
  layout: {
    partitionKey: "PK",
    sortKey: "SK",
    typeAttribute: "EntityType",
    indexes: { GSI1: { partitionKey: "GSI1-PK", sortKey: "GSI1-SK" } },
    nodes: {
      student: { type: "STUDENT", keys: { SK: "METADATA" }, attributes: { name: "Name", email: "Email", yearLevel: "YearLevel" } },
      course: { type: "COURSE", keys: { SK: "METADATA" }, attributes: { name: "Name", professor: "Professor", credits: "Credits" } },
    },
    edges: {
      enrolledIn: {
        type: "ENROLLMENT",
        keys: { SK: "{to}", "GSI1-PK": "{to}", "GSI1-SK": "{from}" },
        attributes: { at: "EnrollmentDate", grade: "Grade" },
      },
    },
  },
};

/** Seed 000: `root` items of invoices alone, an index on the sort key alone, each side with attributes of its own. */
export const billingLab: GraphDefinition = {
  table: "InvoiceAndBills",
  nodes: {
    invoice: node({
      key: "I#{invoiceId}",
      schema: z.object({ invoiceId: text, InvoiceDate: text, InvoiceBalance: text, InvoiceStatus: text, InvoiceDueDate: text }),
    }),
    bill: node({ key: "B#{billId}", schema: z.object({ billId: text }), stored: false }),
    customer: node({ key: "C#{customerId}", schema: z.object({ customerId: text }), stored: false }),
  },
  edges: {
    bills: edge({
      from: "invoice",
      to: "bill",
      stored: "twice",
      schema: z.object({ BillAmount: text, BillBalance: text, BillDueDate: text }),
      sides: { from: ["BillAmount", "BillBalance"], to: ["BillDueDate", "BillAmount"] },
    }) as never,
    billedTo: edge({
      from: "invoice",
      to: "customer",
      stored: "twice",
      schema: z.object({ CustomerName: text, State: text }),
      sides: { from: [], to: ["CustomerName", "State"] },
    }) as never,
  },
  layout: {
    partitionKey: "PK",
    sortKey: "SK",
    indexes: { GSI_1: { partitionKey: "SK" } },
    nodes: { invoice: { keys: { SK: "root" } } },
  },
};

/** Seed 002 A: node items under their own id, edges stored once, the sort key as the index's partition key. */
export const billingDocs: GraphDefinition = {
  table: "Billing",
  nodes: {
    invoice: node({ key: "Invoice-{invoiceId}", schema: z.object({ invoiceId: text, Dated: text }), mirror: true }),
    bill: node({ key: "Bill-{billId}", schema: z.object({ billId: text, Dated: text }), mirror: true }),
  },
  edges: { contains: edge({ from: "invoice", to: "bill", schema: z.object({ Dated: text }) }) as never },
  layout: { partitionKey: "PK", sortKey: "SK", delimiter: "-", indexes: { reverse: { partitionKey: "SK" } } },
};

/** Seed 001: hierarchical keys, split otherwise in the index. */
export const school: GraphDefinition = {
  table: "School",
  nodes: {
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: text, name: text }), mirror: true }),
    teacher: node({ key: "TEACHER#{teacherId}", schema: z.object({ teacherId: text }), stored: false }),
    home: node({ key: "HOME#{country}#{state}#{city}", schema: z.object({ country: text, state: text, city: text }), stored: false }),
  },
  edges: {
    attends: edge({
      from: "student",
      to: "teacher",
      key: ["class"],
      schema: z.object({ class: text, subject: text, name: text }),
    }) as never,
    livesIn: edge({ from: "student", to: "home" }) as never,
  },
  layout: {
    partitionKey: "PK",
    sortKey: "SK",
    typeAttribute: "TYPE",
    indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
    nodes: { student: { type: "STUDENT", keys: { SK: "{key}", GSI1PK: "{key}", GSI1SK: "{key}" }, attributes: { name: "Name" } } },
    edges: {
      attends: {
        type: "CLASS",
        keys: { SK: "{to}#CLASS#{class}", GSI1PK: "{to}", GSI1SK: "CLASS#{class}" },
        attributes: { subject: "Subject", name: "Name" },
      },
      livesIn: { type: "HOME", keys: { SK: "{to}", GSI1PK: "COUNTRY#{to.country}", GSI1SK: "HOME#{to.state}#{to.city}" } },
    },
  },
};

const valued = (): GraphDefinition["nodes"][string] => node({ key: "{id}", schema: z.object({ id: text, value: text }) });
const reference = (type: string) => ({ keys: { TypeTarget: `${type}|{id}`, Data: "{value}", GSIPK: "0" }, delimiters: { Data: "\u0001" } });
const target = (type: string) => ({
  keys: { NodeId: "{from.id}", TypeTarget: type, Data: "{value}", GSIPK: "{from.id:shard(4)}" },
  delimiters: { Data: "\u0001" },
});
const born = (to: string): never => edge({ from: "person", to, multiplicity: "many-to-one", schema: z.object({ value: text }) }) as never;

/** Seed 002 B: the materialized graph, one key space for every id. */
export const people: GraphDefinition = {
  table: "People",
  nodes: { person: valued(), date: valued(), place: valued(), skill: valued() },
  edges: {
    friend: edge({ from: "person", to: "person", symmetric: true, schema: z.object({ value: text }) }) as never,
    bornOn: born("date"),
    bornIn: born("place"),
    has: edge({ from: "person", to: "skill", schema: z.object({ value: text }) }) as never,
  },
  layout: {
    partitionKey: "NodeId",
    sortKey: "TypeTarget",
    delimiter: "|",
    sharedIds: true,
    indexes: { GSI1: { partitionKey: "GSIPK", sortKey: "Data" }, GSI2: { partitionKey: "GSIPK", sortKey: "TypeTarget" } },
    nodes: {
      person: { keys: { TypeTarget: "PERSON|{id}", Data: "{value}", GSIPK: "{id:shard(4)}" } },
      date: reference("DATE"),
      place: reference("PLACE"),
      skill: reference("SKILL"),
    },
    edges: {
      friend: target("PERSON|{to.id}|FRIEND"),
      bornOn: target("DATE|{to.id}|BIRTH"),
      bornIn: target("PLACE|{to.id}|BIRTH"),
      has: target("SKILL|{to.id}"),
    },
  },
};

const trackerOf = (format: "draft" | "published"): GraphDefinition => {
  const draft = format === "draft";
  const value = draft ? "value" : "xvalue";
  return {
    table: "Tracker",
    nodes: {
      tenant: node({ key: "tenant-{tenantId}", schema: z.object({ tenantId: text, name: text }) }),
      project: node({ key: "project-{projectId}", schema: z.object({ projectId: text, tenantId: text, name: text }) }),
      issue: node({ key: "issue-{issueId}", schema: z.object({ issueId: text, projectId: text, num: z.int(), name: text, state: text }) }),
      field: node({ key: `${value}-{fieldId}` as "x-{fieldId}", schema: z.object({ fieldId: text }), stored: false }),
    },
    parts: {
      definition: part({
        of: "project",
        key: "xattrib-{fieldId}",
        schema: z.object({ fieldId: text, name: text, num: z.int(), type: text }),
      }),
    },
    edges: {
      ofTenant: edge({ from: "project", to: "tenant", stored: "reference" }) as never,
      inProject: edge({
        from: "issue",
        to: "project",
        stored: "reference",
        schema: z.object({ num: z.int() }),
        orderBy: draft ? "num:plain" : "num:6",
      }) as never,
      value: edge({
        from: "issue",
        to: "field",
        schema: draft ? z.object({ value: text }) : z.object({ value: text, num: z.int() }),
        orderBy: "value",
      }) as never,
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      delimiter: "-",
      indexes: { byRelated: { partitionKey: "SK", sortKey: "Data", projection: "KEYS_ONLY" } },
      nodes: {
        tenant: { keys: { SK: "*" }, attributes: { name: "Name" } },
        project: { keys: { SK: "tenant-{tenantId}", Data: "{name}" }, delimiters: { Data: "#" } },
        issue: {
          keys: { SK: "project-{projectId}", Data: draft ? "{num:plain}" : "{num:6}" },
          attributes: { name: "Name", state: "State" },
        },
      },
      parts: { definition: { keys: { SK: "{key}" }, attributes: { name: "Name", num: "Num", type: "Type" } } },
      edges: { value: { keys: { SK: "{to}", Data: draft ? "{value}" : "{value}#{num:6}" }, delimiters: { Data: "#" } } },
    },
  };
};

/** Seed 003, as drafted and as published: tenants, projects, issues, and values of fields that users define. */
export const trackerDraft: GraphDefinition = trackerOf("draft");
export const trackerPublished: GraphDefinition = trackerOf("published");

const plain = (key: string): GraphDefinition["nodes"][string] =>
  node({ key: key as "X#{id}", schema: z.object({ id: text, name: optional, ownerId: optional }) });

/** Edgetable's own layout, with every kind of edge. */
export const defaults: GraphDefinition = {
  table: "Defaults",
  nodes: {
    user: plain("USER#{id}"),
    post: plain("POST#{id}"),
    document: node({ key: "DOC#{docId}", schema: z.object({ docId: text, id: text }) }),
  },
  edges: {
    follows: edge({ from: "user", to: "user", schema: z.object({ since: text, role: text }), orderBy: "since", key: ["role"] }) as never,
    likes: edge({
      from: "user",
      to: ["post", "document"],
      stored: "twice",
      schema: z.object({ rank: z.number() }),
      orderBy: "rank:number",
    }) as never,
    knows: edge({ from: "user", to: "user", symmetric: true, maxDegree: { from: 5000 } }) as never,
    writtenBy: edge({ from: "document", to: "user", stored: "reference" }) as never,
  },
  parts: { comment: part({ of: "post", key: "COMMENT#{n:6}", schema: z.object({ n: z.int(), text }) }) },
};

export const adoptedModels: Readonly<Record<string, GraphDefinition>> = {
  education,
  billingLab,
  billingDocs,
  school,
  people,
  trackerDraft,
  trackerPublished,
};
