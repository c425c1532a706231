SELECT DISTINCT value {found} AND value != '' LIMIT {most}
