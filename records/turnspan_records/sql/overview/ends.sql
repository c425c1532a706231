SELECT {how_ended} AS ended, count() AS turns
FROM turn_summary AS t
WHERE {where}
GROUP BY ended
ORDER BY ended = 'running', turns DESC, ended
