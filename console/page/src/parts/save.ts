// One file that needs nothing else; it is made where the command makes it.
import { ask, asRefusal, type Query } from "../api";
import { announce } from "../frame/live";
import { download } from "./copy";

export async function save(what: Query<"GET /api/saved">, name: string): Promise<void> {
  try {
    const { answer } = await ask("GET /api/saved", what);
    const file = `${name.replace(/[^\w.-]+/g, "_").slice(0, 80)}.html`;
    download(answer.html, file, "text/html");
  } catch (error) {
    announce(asRefusal(error).message);
  }
}
