// What is saved, the questions that come with Turnspan, and the tables.
import { plain } from "../parts/text";
import type { SavedSql, SchemaAnswer } from "../types";

interface Props {
  schema: SchemaAnswer | null;
  saved: readonly SavedSql[];
  chosen: string;
  choose: (address: { q: string; saved: string }) => void;
}

export function Tables({ schema, saved, chosen, choose }: Props) {
  return (
    <aside class="facets schema" aria-label="Saved statements, examples and tables">
      {saved.length > 0 && (
        <section>
          <h2>saved</h2>
          {saved.map(({ name, sql }) => (
            <button
              type="button"
              key={name}
              class="value"
              title={plain(sql)}
              aria-pressed={name === chosen}
              onClick={() => choose({ q: "", saved: name })}
            >
              <span class="name">{plain(name)}</span>
            </button>
          ))}
        </section>
      )}
      <section>
        <h2>examples</h2>
        {schema?.examples.map((one) => (
          <button
            type="button"
            key={one.name}
            class="value"
            title={one.question}
            onClick={() => choose({ q: one.sql, saved: "" })}
          >
            <span class="name">{one.title}</span>
          </button>
        ))}
      </section>
      <section>
        <h2>tables</h2>
        {schema?.tables.map((table) => (
          <details key={table.name}>
            <summary title={table.about}>{plain(table.name)}</summary>
            <ul>
              {table.columns.map((column) => (
                <li key={column.name} title={plain(`${column.type} ${column.comment}`)}>
                  {plain(column.name)} <span class="faint">{plain(column.type)}</span>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </section>
    </aside>
  );
}
