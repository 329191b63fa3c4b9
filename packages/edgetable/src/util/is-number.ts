/** Whether DynamoDB has one type, N, for the value. */
export const isNumber = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";
