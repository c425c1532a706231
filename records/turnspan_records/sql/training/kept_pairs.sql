SELECT p.chosen, p.rejected, p.source, p.margin, p.author FROM pair AS p
JOIN sample AS c ON c.number = p.chosen JOIN sample AS r ON r.number = p.rejected
ORDER BY p.prompt_hash, c.project, c.unit, r.project, r.unit
