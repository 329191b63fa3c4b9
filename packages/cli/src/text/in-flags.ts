const FLAGS: Readonly<Record<string, string>> = {
  again: "--again",
  finish: "--finish",
  inPlace: "--in-place",
  leaveOut: "--leave-out",
};

/** A sentence of a migration with the options of the command line, where it names those of the call: `with finish`, `pass inPlace`. */
export const inFlags = (text: string): string =>
  text.replaceAll(
    /\b(with|without|pass|passes) ((?:again|finish|inPlace|leaveOut)(?: and (?:again|finish|inPlace|leaveOut))*)\b/g,
    (_, verb: string, names: string) =>
      `${verb} ${names
        .split(" and ")
        .map((name) => FLAGS[name] ?? name)
        .join(" ")}`,
  );
