SELECT record, uniqExact(value) {found} GROUP BY record ORDER BY record
