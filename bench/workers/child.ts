/** Answers the parent's questions until it hangs up; then the process ends, sockets or not. */
export const answerParent = <Question>(answer: (question: Question) => Promise<unknown>): void => {
  process.on("message", async (question) => {
    try {
      process.send?.({ answer: await answer(question as Question) });
    } catch (error) {
      process.send?.({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on("disconnect", () => process.exit(0));
};
