// Our terms, as tooltips of headings and names. Those of docs/index.md are worded as there.
export const TERMS = {
  session: "a conversation, over any number of requests and days",
  turn: "one input of a user and all that the agent does about it",
  round: "one model call of a turn, with the tools that it asks for",
  rounds: "how many model calls the turn made, one after the other",
  "stop reason": "why a turn ended",
  spool: "the folder where records wait for the store",
  "to land": "to arrive in the store as a row",
  "first token": "from the request to the first piece of the answer",
  "finish reason": "why the provider says that the model stopped",
  "from the cache": "tokens of the prompt that the provider had kept from an earlier call",
  "into the cache": "tokens of the prompt that the provider keeps for later calls",
  reasoning: "tokens that the model wrote to itself before it answered; part of tokens out",
  "same arguments": "how often the turn called this tool with these arguments, up to this call",
  version: "the version of the agent's configuration",
  messages: "how many messages were sent with the request",
  tries: "how often the SDK sent the request until it was answered",
} as const;
