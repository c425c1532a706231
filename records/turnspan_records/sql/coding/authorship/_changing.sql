-- A tool that succeeded and may have changed a file, by its name without blanks, _ and -.
NOT failed AND turn_id != ''
    AND lower(replaceRegexpAll(splitByChar('.', toString(name))[-1], '[\\s_-]', ''))
        IN {tools:Array(String)}
