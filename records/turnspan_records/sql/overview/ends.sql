SELECT {how_ended} AS ended, count() AS turns
FROM {turns} AS t
WHERE {where}
GROUP BY ended
ORDER BY ended = 'running', turns DESC, ended
