-- A tool call that succeeded and may have changed files, by its name without blanks, _ and -.
NOT failed
    AND lower(replaceRegexpAll(splitByChar('.', toString(name))[-1], '[\\s_-]', '')) IN {tools:Array(String)}
