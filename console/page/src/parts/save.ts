// One file that needs nothing else; it is made where the command makes it.
import { AskError, ask, type Query } from "../api";
import { announce } from "../frame/live";

export async function save(what: Query<"GET /api/saved">, name: string): Promise<void> {
  try {
    const { answer } = await ask("GET /api/saved", what);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([answer.html], { type: "text/html" }));
    link.download = `${name.replace(/[^\w.-]+/g, "_").slice(0, 80)}.html`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } catch (error) {
    announce(error instanceof AskError ? error.message : "It could not be saved");
  }
}
