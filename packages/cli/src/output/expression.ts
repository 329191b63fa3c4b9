interface Named {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
}

/** A DynamoDB value as one reads it: `"text"`, `12`, `true`, `[1, 2]`. */
const showValue = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const [[type, inner] = ["", undefined]] = Object.entries(value);
  switch (type) {
    case "N":
      return String(inner);
    case "NULL":
      return "null";
    case "L":
      return `[${(inner as readonly unknown[]).map(showValue).join(", ")}]`;
    case "M":
      return `{${Object.entries(inner as object)
        .map(([name, one]) => `${name}: ${showValue(one)}`)
        .join(", ")}}`;
    default:
      return JSON.stringify(inner);
  }
};

/** An expression with its placeholders filled in, to be read, not sent. */
export const fillExpression = (
  expression: string,
  { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} }: Named,
): string =>
  expression.replaceAll(/[#:]\w+/g, (placeholder) => {
    if (placeholder in names) return names[placeholder] as string;
    return placeholder in values ? showValue(values[placeholder]) : placeholder;
  });

/** The key of an item, such as `pk = "STUDENT#S1", sk = "#"`. */
export const showKey = (key: object): string =>
  Object.entries(key)
    .map(([name, value]) => `${name} = ${showValue(value)}`)
    .join(", ");
