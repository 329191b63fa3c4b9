import type * as Sdk from "@aws-sdk/client-dynamodb";
import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Operation } from "../operations.ts";

type CommandName = Extract<keyof typeof Sdk, `${Operation}Command`>;

/** A command of the SDK for an input that is already in its form. */
export type Command = Parameters<Sdk.DynamoDBClient["send"]>[0];

const missingPackage = (cause: unknown): never => {
  throw new EdgetableError(
    "plan.invalidOption",
    "A DynamoDBClient was given but @aws-sdk/client-dynamodb cannot be loaded: npm install @aws-sdk/client-dynamodb",
    { cause, details: { install: "@aws-sdk/client-dynamodb" } },
  );
};

let loaded: Promise<typeof Sdk> | undefined;

/** Makes the command of an operation; loads the SDK's package on first use. */
export const createCommand = async (operation: Operation, input: unknown): Promise<Command> => {
  loaded ??= import("@aws-sdk/client-dynamodb").catch(missingPackage);
  const sdk = await loaded;
  const name: CommandName = `${operation}Command`;
  // The table of commands is a union of constructors with different inputs; `OperationInputs` has paired them already.
  const SdkCommand = sdk[name] as unknown as new (input: unknown) => Command;
  return new SdkCommand(input);
};
