/** The date that an ISO text says, such as 2024-05-06 or 2024-05-06T07:08:09Z; undefined where there is no such day or hour. */
export const isoDate = (text: string): Date | undefined => {
  const [day] = /^\d{4}-\d{2}-\d{2}(?=T|$)/.exec(text) ?? [];
  if (day === undefined) return undefined;
  const date = new Date(text);
  // The engine makes the 1st of March of the 30th of February.
  const noon = new Date(`${day}T12:00:00Z`);
  return Number.isNaN(date.getTime()) || !noon.toISOString().startsWith(day) ? undefined : date;
};
