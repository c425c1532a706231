// ClickHouse's words, for colours and completion.
import { SQLDialect } from "@codemirror/lang-sql";

export const KEYWORDS = (
  "all and anti any array as asc asof between by case cast cross cube desc describe distinct else " +
  "end escape estimate except exists explain extract false fill final first following from full " +
  "global group grouping having ilike in inner intersect interpolate interval is join last left " +
  "like limit materialized not null nulls offset on or order outer over partition plan pipeline " +
  "preceding prewhere qualify range recursive replace right rollup row rows sample select semi " +
  "sets settings show step syntax tables ties then to totals trailing true unbounded union using " +
  "values when where window with"
).split(" ");

const TYPES =
  "array bool date date32 datetime datetime64 decimal dynamic enum8 enum16 fixedstring float32 " +
  "float64 int8 int16 int32 int64 int128 int256 ipv4 ipv6 json lowcardinality map nested nullable " +
  "string time time64 tuple uint8 uint16 uint32 uint64 uint128 uint256 uuid variant";

export const CLICKHOUSE = SQLDialect.define({
  keywords: KEYWORDS.join(" "),
  types: TYPES,
  backslashEscapes: true,
  doubleDollarQuotedStrings: true,
  identifierQuotes: '`"',
});
