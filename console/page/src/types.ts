// Made by `make web` from the endpoints of console/turnspan_console/web: not to be edited.

export interface Alike {
  turns: string[];
}

export interface AllBadQuery {
  ids: string[];
  by: string;
  id: string;
  project?: string;
}

export interface Alteration {
  kind: string;
  where: string;
  size: number;
}

export interface ArrivalsAnswer {
  running: number;
  last: string | null;
  waiting: number;
}

export interface ArrivalsQuery {
  project?: string;
}

export interface ArtifactCheck {
  project: string;
  source: string;
  artifact_id: string;
  turn_id: string;
  target: string;
  decision: string;
  reason: string;
  revision: string;
  found_by: string;
  revised_at: string;
  later_revision: string;
  correction_id: string;
  similarity: number | null;
  decided_at: string;
  checked_at: string;
  decided: number;
}

export interface ArtifactRecord {
  artifact_id: string;
  target: string;
  kind: string;
  version: string;
  version_id: string;
  cycle: number | null;
  created_at: string;
  scores: Record<string, number>;
  score: number | null;
}

export interface AssembledContext {
  id: string;
  project: string;
  service: string;
  environment: string;
  session_id: string;
  turn_id: string;
  trace_id: string;
  start_time: string;
  duration: number;
  status: string;
  agent_name: string;
  task_type: string;
  entities: string[];
  budget: number | null;
  used: number | null;
  used_estimated: boolean;
  considered: number;
  kept: number;
  dropped: number;
  bypassed: boolean;
  bypass_reason: string;
  error_type: string;
  context_hash: string;
  text: string | null;
  steps: ContextStep[];
  items: ContextItem[];
  calls: string[];
  sections: ContextSection[];
}

export interface AttemptRecord {
  attempt_id: string;
  status: string;
  model: string;
  parameters: string;
  input: string;
  output: string;
  error_type: string;
  error_message: string;
  started_at: string;
  duration: number;
  number: number;
  final: boolean;
  calls: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  scores: Record<string, number>;
  artifacts: ArtifactRecord[];
  score: number | null;
}

export interface Bucket {
  time: string;
  since: string;
  until: string;
  figures: Figures;
}

export interface CacheBreak {
  place: string;
  message: number;
  shared_messages: number;
  shared_tokens: number | null;
  cached: number | null;
  read: number | null;
  lost: number | null;
}

export interface CallQuery {
  project: string;
  span: string;
}

export interface CallScreen {
  span_id: string;
  trace_id: string;
  turn_id: string;
  agent_name: string;
  start_time: string;
  duration: number;
  time_to_first_chunk: number | null;
  round: number;
  provider: string;
  operation: string;
  model: string;
  finish_reasons: string[];
  input_tokens: number | null;
  output_tokens: number | null;
  cache_read_tokens: number | null;
  reasoning_tokens: number | null;
  cost_usd: number | null;
  tries: number;
  error_type: string;
  error_message: string;
  project: string;
  session_id: string;
  cache_write_tokens: number | null;
  tokens_estimated: boolean;
  response_text: string;
  response_thoughts: string;
  request_parameters: string;
  inputs: Head[];
  outputs: Head[];
  system: string;
  tools: string;
  context: string;
  number: number;
  calls: number;
  before: string;
  after: string;
  cost: CostParts;
  facts: NamedValue[];
  attributes: NamedValue[];
}

export interface Check {
  area: string;
  name: string;
  level: string;
  finding: string;
  remedy: string;
}

export interface ColumnOf {
  name: string;
  type: string;
  comment: string;
}

export interface CompareQuery {
  ids: string[];
  project?: string;
  by?: string;
}

export interface ComparedAnswer {
  kind: string;
  id: string;
  project: string;
  asked: string;
  text: string;
  status: string;
  agent: string;
  version: string;
  models: string[];
  parameters: string;
  system_prompt: string;
  score: number | null;
  calls: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  duration: number | null;
  prompt: string;
  why_not: string;
  lineage: LineageNow | null;
}

export interface ComparedAnswers {
  by: string;
  answers: ComparedAnswer[];
  differing: string[];
  same_prompt: boolean;
  why_no_pairs: string;
  no_pairs: NoPair[];
}

export interface ComparedCall {
  project: string;
  span_id: string;
  session_id: string;
  trace_id: string;
  turn_id: string;
  agent_name: string;
  start_time: string;
  model: string;
  input_tokens: number | null;
  output_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
  cost_usd: number | null;
  messages: number;
  system: string;
  tools: string;
}

export interface Composition {
  parts: PromptPart[];
  input_tokens: number | null;
  missing: number;
}

export interface ConfigChange {
  name: string;
  before: string | null;
  after: string | null;
}

export interface ConsortiumRun {
  project: string;
  consortium_id: string;
  name: string;
  strategy: string;
  status: string;
  source: string;
  started_at: string;
  duration: number;
  session_id: string;
  turn_id: string;
  trace_id: string;
  outer_id: string;
  winner: string;
  confidence: number | null;
  agreement: number | null;
  calls: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  longest_member: string;
  longest_member_seconds: number;
  error_type: string;
  error_message: string;
  prompt: string;
  final_text: string;
  grouped_by: string[];
  missing: number;
  other_calls: string[];
  iterations: Iteration[];
  judgments: JudgmentRecord[];
}

export interface ContextItem {
  id: string;
  position: number;
  section: string;
  source: string;
  tokens: number | null;
  tokens_estimated: boolean;
  score: number | null;
  kept: boolean;
  reason: string;
  hop: number | null;
  requires_depth: number | null;
  content_hash: string;
  text: string | null;
}

export interface ContextPanel {
  kind: string;
  id: string;
  project: string;
  assemblies: AssembledContext[];
  composition: Composition | null;
}

export interface ContextQuery {
  id: string;
  project?: string;
}

export interface ContextSection {
  name: string;
  kept: number;
  tokens: number;
  dropped: number;
  dropped_tokens: number;
}

export interface ContextStep {
  name: string;
  duration: number;
  error_type: string;
}

export interface Correction {
  project: string;
  target: string;
  correction_id: string;
  artifact_id: string;
  revision: string;
  similarity: number | null;
  written: string;
  corrected: string;
}

export interface CostPart {
  kind: string;
  count: number;
  cost_usd: number;
}

export interface CostParts {
  cost_usd: number | null;
  price_version: string;
  parts: CostPart[];
  estimated: boolean;
  reason: string;
}

export interface CountedFact {
  what: string;
  value: number;
}

export interface DatasetQuery {
  name: string;
  project: string;
  turns: string[];
}

export interface Decision {
  id: string;
  iteration: number;
  model: string;
  started_at: string;
  duration: number;
  error_type: string;
  error_message: string;
  calls: string[];
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  synthesis: string;
  ranking: string[];
  confidence: number | null;
  reasoning: string;
  refinement_areas: string[];
  needs_iteration: boolean | null;
  raw: string;
}

export interface DefinitionHead {
  hash: string;
  kind: string;
  text: Text;
}

export interface DefinitionQuery {
  project: string;
  hash: string;
}

export interface DefinitionText {
  text: string;
}

export interface DemoPlayed {
  project: string;
}

export interface DiagnosticAnswer {
  name: string;
  title: string;
  question: string;
  remedy: string;
  columns: string[];
  rows: unknown[][];
  sql: string;
}

export interface DiagnosticQuery {
  name: string;
  project?: string;
  since?: string;
  until?: string;
  limit?: number;
}

export interface Difference {
  before: ComparedCall;
  after: ComparedCall;
  parameters: ParameterChange[];
  system: TextChange;
  tools: ToolsChange;
  tools_same: boolean;
  messages: MessageChange[];
  cache: CacheBreak;
}

export interface DifferenceQuery {
  project: string;
  before: string;
  after: string;
}

export interface DryRun {
  rows: number;
  going: Going[];
}

export interface DryRunQuery {
  window_days: number;
}

export interface Earlier {
  turns: TurnId[];
}

export interface EarlierQuery {
  by: string;
  project?: string;
  limit?: number;
}

export interface EndCount {
  end: string;
  turns: number;
  share: number | null;
  before: number | null;
}

export interface Ends {
  ends: EndCount[];
  sql: string;
}

export interface EndsOverTime {
  end: string;
  turns: number[];
}

export interface ErrorPlace {
  project: string;
  session: string;
  turn: string;
  span: string;
}

export interface ErrorShape {
  source: string;
  name: string;
  error: string;
  shape: string;
  times: number;
  of: number | null;
  turns: number;
  first: string;
  last: string;
  example: string;
  place: ErrorPlace;
}

export interface ErrorShapes {
  shapes: ErrorShape[];
  next: string;
  sql: string;
}

export interface ErrorsQuery {
  project?: string;
  since?: string;
  until?: string;
  sort?: string;
  after?: string;
  limit?: number;
}

export interface EvidenceRow {
  kind: string;
  span_id: string;
  says: string;
}

export interface EvolutionRecord {
  evolution_id: string;
  from_version: string;
  to_version: string;
  trigger: string;
  hypothesis: string;
  plan: string;
  changes: Record<string, string>;
  author: string;
  created_at: string;
  from_score: number | null;
  next_score: number | null;
  score_delta: number | null;
  hypothesis_validated: boolean | null;
}

export interface Example {
  name: string;
  title: string;
  question: string;
  sql: string;
}

export interface ExperimentItem {
  project: string;
  experiment: string;
  last_time: string;
  lineages: number;
  rollouts: number;
  cycle: number;
  need: string;
}

export interface ExperimentRecord {
  project: string;
  experiment_id: string;
  need: string;
  constraints: string;
  lineages: LineageRecord[];
  insights: InsightRecord[];
}

export interface Experiments {
  experiments: ExperimentItem[];
  sql: string;
}

export interface ExperimentsQuery {
  project?: string;
  limit?: number;
}

export interface Facet {
  name: string;
  values: FacetValue[];
  sql: string;
}

export interface FacetValue {
  value: string;
  turns: number;
}

export interface Facets {
  facets: Facet[];
}

export interface FacetsQuery {
  project?: string;
  since?: string;
  until?: string;
  filter?: string;
  name?: string[];
  text?: string;
  values?: number;
}

export interface Fed {
  failed: boolean;
  time: string;
  arguments: string;
  said: string;
  place: ErrorPlace;
}

export interface Figures {
  turns: number;
  completed: number;
  problems: number;
  tools: number;
  failed_tools: number;
  cost_usd: number | null;
  input_tokens: number | null;
  cached_tokens: number | null;
  output_tokens: number | null;
  p50_seconds: number | null;
  p95_seconds: number | null;
}

export interface FilterName {
  name: string;
  meaning: string;
  number: boolean;
  values: string[];
}

export interface FiltersAnswer {
  filters: FilterName[];
}

export interface FindInSessionQuery {
  project: string;
  text: string;
  session?: string;
  trace?: string;
}

export interface FirstRecords {
  store: string;
  otlp: OtlpAddress[];
  demo_problem: string;
}

export interface FoundInSession {
  messages: string[];
  turns: string[];
  calls: string[];
  tools: string[];
}

export interface FoundRecord {
  kind: string;
  id: string;
  project: string;
  session: string;
  experiment: string;
}

export interface FoundSession {
  project: string;
  scope: string;
  session: string;
  trace: string;
  time: string;
  agent: string;
  end: string;
  turns: number;
  user_message: string;
}

export interface FunctionOf {
  name: string;
  syntax: string;
  about: string;
}

export interface FunctionsAnswer {
  functions: FunctionOf[];
}

export interface Going {
  table: string;
  reason: string;
  rows: number;
  bytes: number;
}

export interface Head {
  hash: string;
  role: string;
  name: string;
  kinds: string[];
  size: number;
  text: string;
  thoughts: string;
  recorded: boolean;
}

export interface Histogram {
  turns: number;
  cost_usd: number | null;
  width_seconds: number;
  bins: HistogramBin[];
  sql: string;
}

export interface HistogramBin {
  time: string;
  turns: number;
  problems: number;
}

export interface Hit {
  kind: string;
  project: string;
  session: string;
  turn: string;
  span: string;
  message: string;
  time: string;
  before: string;
  match: string;
  after: string;
}

export interface InsightRecord {
  insight_id: string;
  lineage_id: string;
  pattern: string;
  change: string;
  evolution_ids: string[];
  confidence: number | null;
  author: string;
  created_at: string;
  successes: number;
  failures: number;
  average_impact: number | null;
}

export interface ItemOutcome {
  kept: boolean;
  outcome: string;
  turns: number;
}

export interface ItemOutcomes {
  outcomes: ItemOutcome[];
}

export interface ItemOutcomesQuery {
  item: string;
  project?: string;
}

export interface Iteration {
  number: number;
  members: MemberAnswer[];
  decisions: Decision[];
}

export interface JudgeEachQuery {
  subjects: JudgmentSubject[];
  by: string;
  id: string;
  outcome?: string | null;
  flag?: number | null;
  score?: number | null;
  directive?: string | null;
}

export interface JudgeQuery {
  project: string;
  turn: string;
  by: string;
  id: string;
  outcome?: string | null;
  flag?: number | null;
  score?: number | null;
  note?: string | null;
  label?: string | null;
  correction?: string | null;
}

export interface JudgedEach {
  given: StoredJudgment[];
}

export interface JudgedNow {
  id: string;
}

export interface JudgmentRecord {
  id: string;
  subject_kind: string;
  subject_id: string;
  kind: string;
  outcome: string;
  training_flag: number | null;
  score: number | null;
  comment: string;
  directive: string;
  chosen_id: string;
  rejected_id: string;
  author: string;
  source: string;
  confidence: number | null;
  ranking_id: string;
  created_at: string;
  holds: boolean;
  withdrawn_at: string | null;
  withdrawn_by: string;
  reason: string;
}

export interface JudgmentSubject {
  kind: string;
  id: string;
  project: string;
}

export interface LineageEventRecord {
  kind: string;
  text: string;
  author: string;
  created_at: string;
}

export interface LineageNamed {
  project: string;
  id: string;
}

export interface LineageNow {
  project: string;
  id: string;
  label: string;
  directive: string;
  once: string[];
  locked: boolean;
  evolve: boolean;
}

export interface LineageQuery {
  session: string;
  project?: string;
}

export interface LineageRecord {
  lineage_id: string;
  label: string;
  strategy: string;
  directive: string;
  once: string[];
  locked: boolean;
  evolve: boolean;
  events: LineageEventRecord[];
  versions: VersionRecord[];
  rollouts: RolloutRecord[];
  evolutions: EvolutionRecord[];
  artifacts: ArtifactRecord[];
}

export interface LookAt {
  name: string;
  meaning: string;
  turns: number;
  agent: string;
}

export interface LookAts {
  found: LookAt[];
  sql: string;
}

export interface LookupAnswer {
  found: FoundRecord[];
}

export interface LookupQuery {
  id: string;
}

export interface MadeDataset {
  dataset: string;
  cases: number;
  with_expected: number;
  is_new: boolean;
}

export interface MemberAnswer {
  id: string;
  iteration: number;
  model: string;
  started_at: string;
  duration: number;
  error_type: string;
  error_message: string;
  calls: string[];
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  instance: string;
  answer: string;
  inner_run: string;
  label: string;
  won: boolean;
}

export interface MessageChange {
  kind: string;
  before: number;
  after: number;
  count: number;
  was: Head | null;
  now: Head | null;
}

export interface MessageText {
  hash: string;
  role: string;
  name: string;
  parts: string;
  size: number;
  cut: number[];
}

export interface MessageTextQuery {
  project: string;
  scope: string;
  hash: string;
  part?: number;
  start?: number;
}

export interface MessagesQuery {
  project: string;
  scope: string;
  hashes: string[];
}

export interface ModelCost {
  models: string | null;
  costs: (number | null)[];
}

export interface Named {
  kind: string;
  name: string;
  project: string;
}

export interface NamedValue {
  name: string;
  value: string;
}

export interface NamesAnswer {
  names: Named[];
}

export interface NamesQuery {
  text: string;
  project?: string;
}

export interface NextStep {
  did: string;
  times: number;
  place: ErrorPlace;
}

export interface NoPair {
  one: number;
  other: number;
  why: string;
}

export type NoQuery = Record<string, never>;

export interface OrderQuery {
  groups: string[][];
  by: string;
  id: string;
  project?: string;
  reason?: string;
}

export interface Ordered {
  given: StoredJudgment[];
  pairs: PairMade[];
}

export interface OtlpAddress {
  endpoint: string;
  problem: string;
}

export interface Outline {
  project: string;
  session_id: string;
  trace_id: string;
  cursor: string;
  running: boolean;
  turns: OutlineTurn[];
  calls: OutlineCall[];
  tools: OutlineTool[];
  messages: Head[];
  definitions: DefinitionHead[];
  steps: OutlineStep[];
  continues: boolean;
  counted: CountedFact[];
}

export interface OutlineAnswer {
  outline: Outline | null;
}

export interface OutlineCall {
  span_id: string;
  trace_id: string;
  turn_id: string;
  agent_name: string;
  start_time: string;
  duration: number;
  time_to_first_chunk: number | null;
  round: number;
  provider: string;
  operation: string;
  model: string;
  finish_reasons: string[];
  input_tokens: number | null;
  output_tokens: number | null;
  cache_read_tokens: number | null;
  reasoning_tokens: number | null;
  cost_usd: number | null;
  tries: number;
  error_type: string;
  error_message: string;
  parent_span_id: string;
  stream_outcome: string;
  cache_write_tokens: number | null;
  cache_lost: number | null;
  tokens_estimated: boolean;
  consortium_id: string;
  messages: number;
  new: number[];
  replies: number[];
  before: string;
  kept: number;
  dropped: number;
  rewritten: boolean;
  system: string;
  system_new: boolean;
  system_changed: boolean;
  tools: string;
  tools_changed: ToolsChange | null;
  requests: OutlineRequest[];
  response: Text;
  status: string;
  stored: number;
  thoughts: string;
}

export interface OutlineQuery {
  project: string;
  session?: string;
  trace?: string;
  after?: string;
  calls?: number;
}

export interface OutlineRequest {
  call_id: string;
  name: string;
  arguments: string;
  tool: string;
  answered: boolean;
  seen: string;
  altered: boolean;
}

export interface OutlineStep {
  kind: string;
  id: string;
  depth: number;
}

export interface OutlineTool {
  span_id: string;
  name: string;
  call_id: string;
  start_time: string;
  duration: number;
  round: number;
  failed: boolean;
  error_type: string;
  error_message: string;
  turn_id: string;
  trace_id: string;
  parent_span_id: string;
  arguments: Text;
  result: Text;
  times: number;
  first: string;
  same_result: boolean;
  requested: boolean;
  decision: string;
  decided_by: string;
}

export interface OutlineTurn {
  turn_id: string;
  parent_turn_id: string;
  trace_id: string;
  span_id: string;
  start_time: string;
  duration: number;
  status: string;
  agent_name: string;
  agent_version: string;
  stop_detail: string;
  rounds: number;
  max_rounds: number | null;
  llm_call_count: number;
  tool_call_count: number;
  tool_error_count: number;
  turn_intent: string;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  models: string[];
  error_type: string;
  error_message: string;
  ended_how: string;
  user_message: Text;
  response_text: Text;
  identical_streak: number;
}

export interface PageQuery {
  project?: string;
  since?: string;
  until?: string;
  filter?: string;
  sort?: string;
  after?: string;
  limit?: number;
}

export interface PairMade {
  chosen: string;
  rejected: string;
  why_not: string;
}

export interface ParameterChange {
  name: string;
  before: string;
  after: string;
}

export interface PromptPart {
  name: string;
  messages: number;
  bytes: number;
  tokens: number;
}

export interface QueueRow {
  name: string;
  order: string;
  each: boolean;
  turns: number;
  left: number;
}

export interface ReceiverShown {
  address: string;
  since: string;
  spans: number;
}

export interface RenameViewQuery {
  name: string;
  new: string;
}

export interface RequestAnswer {
  body: string;
  exact: boolean;
  altered: Alteration[];
  curl: string;
  python: string;
  reason: string;
}

export interface Retention {
  window_days: number;
  content_days: number;
  summary_texts: string;
  tables: string[];
  archive: string;
  lives: TimeToLive[];
}

export interface ReviewLeft {
  queue: string;
  order: string;
  each: boolean;
  by: string;
  turns: number;
  left: number;
  next: TurnId[];
  waiting: number;
}

export interface ReviewQuery {
  project?: string;
  since?: string;
  until?: string;
  queue?: string;
  by?: string;
  agent?: string;
  order?: string;
  stop?: string[];
  odd?: boolean;
  sample?: number;
  seed?: number;
  each?: boolean;
  limit?: number;
}

export interface ReviewQueues {
  by: string;
  queues: QueueRow[];
}

export interface ReviewQueuesQuery {
  by?: string;
}

export interface ReviewTurn {
  turn: TurnText;
  judgments: JudgmentRecord[];
  suggests: string;
  checks: ArtifactCheck[];
  revisions: Correction[];
  done_by: string[];
}

export interface ReviewTurnQuery {
  turn: string;
  project?: string;
}

export interface RolloutRecord {
  rollout_id: string;
  cycle: number;
  task: string;
  version_id: string;
  status: string;
  final_attempt_id: string;
  started_at: string;
  duration: number;
  attempts: AttemptRecord[];
  score: number | null;
  cost_usd: number | null;
}

export interface RunList {
  runs: RunRow[];
  sql: string;
}

export interface RunQuery {
  run: string;
  project?: string;
}

export interface RunRow {
  time: string;
  project: string;
  name: string;
  run: string;
  status: string;
  iterations: number;
  members: number;
  arbiter: string;
  winner: string;
  confidence: number | null;
  agreement: number | null;
  calls: number;
  cost_usd: number | null;
  duration: number;
  error: string;
}

export interface RunsQuery {
  project?: string;
  since?: string;
  until?: string;
  limit?: number;
}

export interface SavedPage {
  html: string;
}

export interface SavedQuery {
  project: string;
  session?: string;
  trace?: string;
  call?: string;
}

export interface SavedSql {
  name: string;
  sql: string;
}

export interface SavedSqlAnswer {
  queries: SavedSql[];
}

export interface SavedView {
  name: string;
  address: string;
}

export interface SavedViewsAnswer {
  views: SavedView[];
}

export interface SchemaAnswer {
  tables: TableOf[];
  examples: Example[];
}

export interface Search {
  hits: Hit[];
  sessions: FoundSession[];
  back_to: string | null;
  finished: boolean;
  next: string;
  sql: string;
}

export interface Serving {
  address: string;
  names: string[];
  token_file: string;
}

export interface SessionRow {
  project: string;
  session: string;
  time: string;
  turns: number;
  calls: number;
  tools: number;
  failed_tools: number;
  cost_usd: number | null;
  end: string;
  problems: number;
  user_message: string;
}

export interface SessionsPage {
  sessions: SessionRow[];
  next: string;
  sql: string;
}

export interface SettingShown {
  name: string;
  value: string;
  variable: string;
  meaning: string;
  given: boolean;
}

export interface SettingsAnswer {
  checks: Check[];
  retention: Retention;
  tables: TableSize[];
}

export interface SqlAnswer {
  columns: string[];
  types: string[];
  rows: unknown[][];
  more: boolean;
  milliseconds: number;
}

export interface SqlProblem {
  start: number;
  end: number;
  instead: string[];
}

export interface SqlQuery {
  sql: string;
  parameters?: Record<string, string>;
  plan?: boolean;
}

export interface SteerQuery {
  lineages: LineageNamed[];
  word: "directive" | "evolve" | "locked" | "once" | "unlocked";
  by: string;
  id: string;
  text?: string;
}

export interface Steered {
  number: number;
}

export interface StopEvidence {
  turn_id: string;
  ended_how: string;
  detail: string;
  number: number;
  rule: string;
  facts: ([string, string])[];
  rows: EvidenceRow[];
}

export interface StoreFacts {
  store: string;
  name: string;
  version: string;
  projects: string[];
}

export interface StoredJudgment {
  project: string;
  subject_kind: string;
  subject_id: string;
  kind: string;
  id: string;
}

export interface Summary {
  outcomes: Record<string, number>;
  flags: Record<string, number>;
  scores: number;
  mean_score: number | null;
  both: number;
  alike: number;
}

export interface Surroundings {
  version: string;
  store: string;
  spool: string;
  checks: Check[];
  recording: SettingShown[];
  receivers: ReceiverShown[];
}

export interface TableOf {
  name: string;
  about: string;
  columns: ColumnOf[];
}

export interface TableSize {
  table: string;
  rows: number;
  bytes: number;
  parts: number;
}

export interface TakeBackQuery {
  given: StoredJudgment[];
  by: string;
}

export interface TakenBack {
  number: number;
}

export interface Text {
  head: string;
  size: number;
}

export interface TextChange {
  same: boolean;
  before: Text;
  after: Text;
}

export interface TextQuery {
  text: string;
  project?: string;
  since?: string;
  until?: string;
  filter?: string;
  limit?: number;
}

export interface TextRange {
  text: string;
  start: number;
  total: number;
  original_bytes: number;
}

export interface Texts {
  messages: MessageText[];
  left: string[];
  missing: string[];
}

export interface TimeToLive {
  table: string;
  rule: string;
}

export interface ToolFailures {
  tool: string;
  next_steps: NextStep[];
  fed: Fed[];
  sql: string;
}

export interface ToolQuery {
  tool: string;
  project?: string;
  since?: string;
  until?: string;
}

export interface ToolTextQuery {
  project: string;
  span: string;
  field: "arguments" | "result";
  start?: number;
}

export interface ToolsChange {
  added: string[];
  removed: string[];
  changed: string[];
}

export interface Trend {
  width_seconds: number;
  buckets: Bucket[];
  total: Figures;
  before: Figures | null;
  first_token_p95_seconds: number | null;
  first_token_p95: (number | null)[];
  ends: EndsOverTime[];
  models: ModelCost[];
  sql: string;
  models_sql: string;
}

export interface TurnId {
  project: string;
  turn: string;
}

export interface TurnRow {
  project: string;
  session: string;
  turn: string;
  trace_id: string;
  time: string;
  agent: string;
  version: string;
  status: string;
  end: string;
  stop_reason: string;
  stop_detail: string;
  rounds: number;
  calls: number;
  tools: number;
  failed_tools: number;
  duration: number;
  cost_usd: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  models: string[];
  user_id: string;
  service: string;
  environment: string;
  error_type: string;
  user_message: string;
  reply: string;
}

export interface TurnText {
  project: string;
  session_id: string;
  trace_id: string;
  turn_id: string;
  number: number;
  turns: number;
  start_time: string;
  duration: number;
  agent_name: string;
  agent_version: string;
  status: string;
  ended_how: string;
  stop_detail: string;
  rounds: number;
  calls: number;
  tools: number;
  failed_tools: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  models: string[];
  user_message: string;
  response_text: string;
  error_type: string;
  error_message: string;
  told: Utterance[];
}

export interface TurnsPage {
  turns: TurnRow[];
  next: string;
  sql: string;
}

export interface UndoQuery {
  by: string;
  project?: string;
}

export interface Undone {
  project: string;
  turn: string;
  kind: string;
}

export interface Utterance {
  kind: string;
  name: string;
  text: string;
  characters: number;
  depth: number;
  span_id: string;
  failed: boolean;
  recorded: boolean;
}

export interface VersionRecord {
  version_id: string;
  name: string;
  created_at: string;
  config: unknown;
  made_from: string;
  changes: ConfigChange[];
  score: number | null;
  judged: number;
}

export interface ViewName {
  name: string;
}

export interface WantedQuery {
  project?: string;
  since?: string;
  until?: string;
  filter?: string;
}

export interface WeekAnswer {
  week: string;
  since: string;
  until: string;
  before: string;
  after: string;
  parts: DiagnosticAnswer[];
}

export interface WeekQuery {
  project?: string;
  week?: string;
}

export interface Endpoints {
  "GET /api/call": { query: CallQuery; answer: CallScreen };
  "GET /api/request": { query: CallQuery; answer: RequestAnswer };
  "GET /api/diff": { query: DifferenceQuery; answer: Difference };
  "GET /api/errors": { query: ErrorsQuery; answer: ErrorShapes };
  "GET /api/errors/tool": { query: ToolQuery; answer: ToolFailures };
  "GET /api/lookup": { query: LookupQuery; answer: LookupAnswer };
  "GET /api/names": { query: NamesQuery; answer: NamesAnswer };
  "GET /api/overview/ends": { query: WantedQuery; answer: Ends };
  "GET /api/overview/trend": { query: WantedQuery; answer: Trend };
  "GET /api/overview/looks": { query: WantedQuery; answer: LookAts };
  "GET /api/diagnostic": { query: DiagnosticQuery; answer: DiagnosticAnswer };
  "GET /api/outline": { query: OutlineQuery; answer: OutlineAnswer };
  "POST /api/messages": { query: MessagesQuery; answer: Texts };
  "GET /api/message-text": { query: MessageTextQuery; answer: TextRange };
  "GET /api/tool-text": { query: ToolTextQuery; answer: TextRange };
  "GET /api/definition": { query: DefinitionQuery; answer: DefinitionText };
  "GET /api/stop": { query: TurnId; answer: StopEvidence };
  "GET /api/session-find": { query: FindInSessionQuery; answer: FoundInSession };
  "GET /api/saved": { query: SavedQuery; answer: SavedPage };
  "POST /api/sql": { query: SqlQuery; answer: SqlAnswer; details: SqlProblem };
  "GET /api/schema": { query: NoQuery; answer: SchemaAnswer };
  "GET /api/sql/functions": { query: NoQuery; answer: FunctionsAnswer };
  "GET /api/sql/saved": { query: NoQuery; answer: SavedSqlAnswer };
  "POST /api/sql/save": { query: SavedSql; answer: SavedSqlAnswer };
  "GET /api/store": { query: NoQuery; answer: StoreFacts };
  "GET /api/arrivals": { query: ArrivalsQuery; answer: ArrivalsAnswer };
  "GET /api/first-records": { query: NoQuery; answer: FirstRecords };
  "POST /api/first-records/demo": { query: NoQuery; answer: DemoPlayed };
  "GET /api/turns": { query: PageQuery; answer: TurnsPage };
  "GET /api/sessions": { query: PageQuery; answer: SessionsPage };
  "GET /api/facets": { query: FacetsQuery; answer: Facets };
  "GET /api/filters": { query: NoQuery; answer: FiltersAnswer };
  "GET /api/histogram": { query: WantedQuery; answer: Histogram };
  "GET /api/find": { query: TextQuery; answer: Search };
  "GET /api/views": { query: NoQuery; answer: SavedViewsAnswer };
  "POST /api/views/save": { query: SavedView; answer: SavedViewsAnswer };
  "POST /api/views/rename": { query: RenameViewQuery; answer: SavedViewsAnswer };
  "POST /api/views/remove": { query: ViewName; answer: SavedViewsAnswer };
  "GET /api/review/queues": { query: ReviewQueuesQuery; answer: ReviewQueues };
  "GET /api/review/left": { query: ReviewQuery; answer: ReviewLeft };
  "GET /api/review/turn": { query: ReviewTurnQuery; answer: ReviewTurn };
  "POST /api/review/judge": { query: JudgeQuery; answer: JudgedNow };
  "POST /api/review/undo": { query: UndoQuery; answer: Undone };
  "GET /api/review/earlier": { query: EarlierQuery; answer: Earlier };
  "GET /api/review/summary": { query: ReviewQuery; answer: Summary };
  "GET /api/surroundings": { query: NoQuery; answer: Surroundings };
  "GET /api/settings": { query: NoQuery; answer: SettingsAnswer };
  "POST /api/settings/retention": { query: DryRunQuery; answer: DryRun };
  "POST /api/judge": { query: JudgeEachQuery; answer: JudgedEach };
  "POST /api/judge/take-back": { query: TakeBackQuery; answer: TakenBack };
  "POST /api/datasets": { query: DatasetQuery; answer: MadeDataset };
  "GET /api/compare": { query: CompareQuery; answer: ComparedAnswers };
  "GET /api/compare/alike": { query: TurnId; answer: Alike };
  "POST /api/compare/order": { query: OrderQuery; answer: Ordered };
  "POST /api/compare/all-bad": { query: AllBadQuery; answer: JudgedEach };
  "GET /api/context": { query: ContextQuery; answer: ContextPanel };
  "GET /api/context/outcomes": { query: ItemOutcomesQuery; answer: ItemOutcomes };
  "GET /api/consortium": { query: RunsQuery; answer: RunList };
  "GET /api/consortium/run": { query: RunQuery; answer: ConsortiumRun };
  "GET /api/lineage/experiments": { query: ExperimentsQuery; answer: Experiments };
  "GET /api/lineage": { query: LineageQuery; answer: ExperimentRecord };
  "POST /api/lineage/steer": { query: SteerQuery; answer: Steered };
  "GET /api/week": { query: WeekQuery; answer: WeekAnswer };
  "GET /api/serving": { query: NoQuery; answer: Serving };
}
