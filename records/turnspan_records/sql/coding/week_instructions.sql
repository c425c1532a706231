-- title: What to put into the instructions file
-- question: Which prompts and corrections came again, and which commands failed first and worked in another form?
-- remedy: Write each as one sentence into CLAUDE.md, AGENTS.md or the system prompt, and look whether it comes again next week.
SELECT times, sessions, kind, text, instead_of_text, turn
FROM
(
    SELECT said AS times, in_sessions AS sessions, if(correction, 'correction', 'prompt') AS kind,
        '' AS instead_of_text, prompt AS text, last_turn AS turn
    FROM
    (
        {_said_again}
    )
    WHERE correction OR in_sessions > 1
    UNION ALL
    -- A command is known by its program: without `cd`, variables and what runs it. In another form
    -- it has two thirds of the words. Of programs that answer by their exit code none failed.
    SELECT count() AS times, uniqExact(session_id) AS sessions, 'command' AS kind,
        argMax(failing, (at, turn_id)) AS instead_of_text, argMax(working, (at, turn_id)) AS text, argMax(turn_id, (at, turn_id)) AS turn
    FROM
    (
        SELECT project, session_id, turn_id, tool, program, failed, form AS working, start_time AS at,
            lagInFrame(failed) OVER w AS failed_before, lagInFrame(form) OVER w AS failing,
            words, lagInFrame(words) OVER w AS words_before
        FROM
        (
            SELECT project, session_id, turn_id, start_time, failed, toString(name) AS tool,
                coalesce(nullIf(JSONExtractString(arguments, 'command'), ''),
                    nullIf(arrayStringConcat(JSONExtract(arguments, 'command', 'Array(String)'), ' '), ''),
                    nullIf(JSONExtractString(arguments, 'cmd'), ''), '') AS command,
                leftUTF8(command, 240) AS form,
                splitByWhitespace(replaceRegexpOne(command,
                    '^(bash -lc )?(cd [^&;]+(&&|;) *)?((sudo|npx|env|uv run|poetry run|pnpm|yarn|[A-Z_]+=\\S+|(\\S*/)?python3? -m) +)*(\\S*/)?', ''))
                    AS words,
                words[1] AS program
            FROM tool_call
            WHERE {chosen:start_time}
        )
        WHERE program NOT IN ('', 'rg', 'grep', 'egrep', 'test', '[', 'diff', 'cmp', 'which', 'find', 'ls')
        WINDOW w AS (PARTITION BY project, turn_id, program ORDER BY start_time
            ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
    )
    WHERE failed_before AND NOT failed AND failing != working
        AND length(arrayIntersect(words, words_before)) * 3
            >= length(arrayDistinct(arrayConcat(words, words_before))) * 2
    GROUP BY project, tool, program
    HAVING times > 1
)
ORDER BY times DESC, kind, text
LIMIT {limit:UInt32}
