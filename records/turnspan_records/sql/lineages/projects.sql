SELECT DISTINCT project FROM lineage WHERE experiment_id = {experiment:String}
    AND {of_project}
UNION DISTINCT
SELECT DISTINCT project FROM experiment WHERE experiment_id = {experiment:String}
    AND {of_project}
