import { defineGraph, node, part } from "edgetable";
import { z } from "zod";
import type { Design } from "./describe-design.ts";

const text = z.string();

const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      complaint: node({
        key: "{complaintId}",
        schema: z.object({
          complaintId: text,
          customerId: text,
          current_state: text,
          creation_time: text,
          severity: text,
          complaint_description: text,
          escalatedTo: text.optional(),
          escalatedAt: text.optional(),
        }),
      }),
    },
    parts: {
      communication: part({
        of: "complaint",
        key: "comm#{commDate}#{commId}",
        schema: z.object({
          commDate: text,
          commId: text,
          complaint_state: text,
          comm_text: text,
          agentId: text.optional(),
          attachments: z.set(text).optional(),
        }),
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: {
        Customer_Complaint_GSI: { partitionKey: "customer_id", sortKey: "complaint_id" },
        Escalations_GSI: { partitionKey: "escalated_to", sortKey: "escalation_time" },
        Agents_Comments_GSI: { partitionKey: "agentID", sortKey: "comm_date" },
      },
      nodes: {
        complaint: {
          keys: { SK: "metadata" },
          attributes: { customerId: "customer_id", escalatedTo: "escalated_to", escalatedAt: "escalation_time" },
          verbatim: { complaint_id: "complaintId" },
        },
      },
      parts: {
        communication: {
          attributes: { agentId: "agentID" },
          verbatim: { comm_date: "commDate", comm_id: "commId" },
        },
      },
    },
  });

interface Escalation {
  readonly escalated_to?: string;
  readonly escalation_time?: string;
}
const complaint = (id: string, customer: string, rest: Escalation = {}) => ({
  PK: id,
  SK: "metadata",
  customer_id: customer,
  complaint_id: id,
  current_state: "assigned",
  creation_time: "2024-01-02T03:04:05",
  severity: "P2",
  complaint_description: `about ${id}`,
  ...rest,
});
interface Handled {
  readonly agentID?: string;
  readonly attachments?: ReadonlySet<string>;
}
const communication = (id: string, [date, commId, state]: readonly [string, string, string], rest: Handled = {}) => ({
  PK: id,
  SK: `comm#${date}#${commId}`,
  comm_id: commId,
  comm_date: date,
  complaint_state: state,
  comm_text: `text of ${commId}`,
  ...rest,
});
const complaintRow = (complaintId: string, customerId: string, rest: { escalatedTo?: string; escalatedAt?: string } = {}) => ({
  complaintId,
  customerId,
  current_state: "assigned",
  creation_time: "2024-01-02T03:04:05",
  severity: "P2",
  complaint_description: `about ${complaintId}`,
  ...rest,
});

const communicationRow = (complaintId: string, [commDate, commId, complaint_state]: readonly [string, string, string]) => ({
  complaintId,
  commDate,
  commId,
  complaint_state,
  comm_text: `text of ${commId}`,
});

const [noon, later] = ["2024-02-01T12:00:00", "2024-02-01T13:00:00"];
const files = new Set(["s3://a", "s3://b"]);
const escalated = { escalatedTo: "AgentZ", escalatedAt: "2024-03-01T00:00:00" };
const escalatedItem = { escalated_to: "AgentZ", escalation_time: "2024-03-01T00:00:00" };

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const complaints: Design<Db> = {
  name: "complaints",
  source: "AWS, Complaint management schema: github.com/aws-samples/aws-dynamodb-examples, schema_design/SchemaExamples/ComplainManagement",
  table: {
    key: ["PK", "SK"],
    indexes: {
      Customer_Complaint_GSI: { key: ["customer_id", "complaint_id"] },
      Escalations_GSI: { key: ["escalated_to", "escalation_time"] },
      Agents_Comments_GSI: { key: ["agentID", "comm_date"] },
    },
  },
  graph,
  items: [
    complaint("Case1", "custA"),
    complaint("Case2", "custA", escalatedItem),
    complaint("Case3", "custB", { ...escalatedItem, escalation_time: "2024-03-02T00:00:00" }),
    communication("Case1", [noon, "c1", "waiting"]),
    communication("Case1", [later, "c2", "assigned"], { agentID: "AgentY", attachments: files }),
    communication("Case3", [noon, "c3", "assigned"], { agentID: "AgentY" }),
  ],
  patterns: [
    {
      question: "Get complaint metadata",
      ask: (db) => db.complaint.get({ complaintId: "Case2" }),
      answer: complaintRow("Case2", "custA", escalated),
      requests: ["GetItem: 'Case2' / 'metadata'"],
    },
    {
      question: "Get all communications for a complaint",
      ask: (db) => db.complaint({ complaintId: "Case1" }).parts("communication").all(),
      answer: [
        communicationRow("Case1", [noon, "c1", "waiting"]),
        { ...communicationRow("Case1", [later, "c2", "assigned"]), agentId: "AgentY", attachments: files },
      ],
      requests: ["Query: PK = 'Case1' AND begins_with(SK, 'comm#')"],
    },
    {
      question: "Get all complaints for a customer",
      ask: (db) => db.find("complaint").where({ customerId: "custA" }).rows(),
      answer: [complaintRow("Case1", "custA"), complaintRow("Case2", "custA", escalated)],
      requests: ["Query Customer_Complaint_GSI: customer_id = 'custA'"],
    },
    {
      question: "Find complaints escalated to an agent",
      ask: (db) => db.find("complaint").where({ escalatedTo: "AgentZ" }).using("Escalations_GSI").rows(),
      answer: [
        complaintRow("Case2", "custA", escalated),
        complaintRow("Case3", "custB", { ...escalated, escalatedAt: "2024-03-02T00:00:00" }),
      ],
      requests: ["Query Escalations_GSI: escalated_to = 'AgentZ'"],
    },
    {
      question: "View an agent's communication history",
      ask: (db) => db.find("communication").where({ agentId: "AgentY" }).rows(),
      answer: [
        { ...communicationRow("Case3", [noon, "c3", "assigned"]), agentId: "AgentY" },
        { ...communicationRow("Case1", [later, "c2", "assigned"]), agentId: "AgentY", attachments: files },
      ],
      requests: ["Query Agents_Comments_GSI: agentID = 'AgentY'"],
    },
    {
      question: "Track complaint state changes",
      ask: (db) => db.complaint({ complaintId: "Case1" }).parts("communication").where({ complaint_state: "waiting" }).all(),
      answer: [communicationRow("Case1", [noon, "c1", "waiting"])],
      requests: ["Query: PK = 'Case1' AND begins_with(SK, 'comm#') (filter complaint_state = 'waiting')"],
    },
  ],
  writes: [
    {
      what: "a complaint is made",
      call: (db) => db.complaint.create(complaintRow("Case4", "custB")).orThrow(),
      puts: [complaint("Case4", "custB")],
    },
    {
      what: "it is escalated, and enters the index",
      call: (db) => db.complaint.update({ complaintId: "Case4" }, escalated).orThrow(),
      puts: [complaint("Case4", "custB", escalatedItem)],
    },
    {
      what: "the escalation ends, and it leaves the index",
      call: (db) => db.complaint.update({ complaintId: "Case4" }, { remove: ["escalatedTo", "escalatedAt"] }).orThrow(),
      puts: [complaint("Case4", "custB")],
    },
    {
      what: "an agent answers",
      call: (db) =>
        db.communication
          .create(
            { complaintId: "Case4" },
            { commDate: noon, commId: "c4", complaint_state: "resolved", comm_text: "text of c4", agentId: "AgentY", attachments: files },
          )
          .orThrow(),
      puts: [communication("Case4", [noon, "c4", "resolved"], { agentID: "AgentY", attachments: files })],
    },
  ],
  cannot: [
    {
      needs: "a Scan that filters by severity and state: db.find never scans",
      attempt: (db) => db.find("complaint").where({ severity: "P1", current_state: "assigned" }).rows(),
      refusal: "No index finds",
    },
  ],
};
