import type { SentRequest } from "edgetable";
import { type Expressions, fill, type Item, showValue } from "./request-line.ts";

/** One item that a request wrote or checked, in a table with the keys `pk` and `sk`. */
export interface Write {
  /** `Put`, `Update`, `Delete`, `Check`, or the operation on the table. */
  readonly operation: string;
  readonly partition: string;
  readonly sort: string;
  /** What was written, with its values. */
  readonly content: string;
}

interface Action extends Expressions {
  readonly Key?: Item;
  readonly Item?: Item;
  readonly UpdateExpression?: string;
  readonly ConditionExpression?: string;
}

const keyText = (key: Item, name: string): string => String(key[name]?.["S"] ?? "");

const contentOf = (operation: string, action: Action): string => {
  if (operation === "Check") return `if ${fill(action.ConditionExpression ?? "", action)}`;
  if (action.UpdateExpression !== undefined) return fill(action.UpdateExpression, action);
  const attributes = Object.entries(action.Item ?? {}).filter(([name]) => name !== "pk" && name !== "sk");
  return attributes.map(([name, value]) => `${name} = ${showValue(value)}`).join(", ");
};

const writeOf = (operation: string, action: Action): Write => {
  const key = action.Key ?? action.Item ?? {};
  return { operation, partition: keyText(key, "pk"), sort: keyText(key, "sk"), content: contentOf(operation, action) };
};

interface TableChange {
  readonly GlobalSecondaryIndexUpdates?: readonly Readonly<Record<string, { readonly IndexName: string }>>[];
}

const tableChange = ({ GlobalSecondaryIndexUpdates = [] }: TableChange): Write => {
  const changes = GlobalSecondaryIndexUpdates.flatMap((update) => Object.entries(update));
  const content = changes.map(([change, { IndexName }]) => `${change.toLowerCase()} the index ${IndexName}`).join(", ");
  return { operation: "UpdateTable", partition: "", sort: "", content };
};

/** What a request wrote, item by item; nothing for a request that reads. */
export const writesOf = ({ operation, input }: Pick<SentRequest, "operation" | "input">): readonly Write[] => {
  if (operation === "TransactWriteItems") {
    const { TransactItems } = input as { readonly TransactItems: readonly Readonly<Record<string, Action>>[] };
    return TransactItems.flatMap((item) =>
      Object.entries(item).map(([name, action]) => writeOf(name === "ConditionCheck" ? "Check" : name, action)),
    );
  }
  if (operation === "UpdateTable") return [tableChange(input as TableChange)];
  const single = /^(?<name>Put|Update|Delete)Item$/.exec(operation)?.groups?.["name"];
  return single === undefined ? [] : [writeOf(single, input as Action)];
};
