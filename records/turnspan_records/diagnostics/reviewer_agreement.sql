-- title: Agreement of reviewers
-- question: How far do two reviewers agree on what both judged, and people with the passive signal?
-- remedy: Cohen's kappa is 1 for full agreement and 0 for chance. If it is low, let both review the same sample (turnspan review sample), discuss the differences, and write down the rules.
WITH
    -- Most subjects have one judge: those of several are found first, by columns that cost little.
    several AS
    (
        SELECT project, subject_kind, kind, subject_id
        FROM annotation
        WHERE kind IN ('outcome', 'training_flag', 'score')
            AND author != '' AND ({project:String} = '' OR project = {project:String})
        GROUP BY project, subject_kind, kind, subject_id
        HAVING min(author) != max(author)
    ),
    -- Each reviewer's own newest judgment of a kind. Who is not named cannot be told from others.
    own AS
    (
        SELECT
            project, subject_kind, kind, author,
            if(kind = 'preference', concat(least(chosen_id, rejected_id), ' ', greatest(chosen_id, rejected_id)), subject_id)
                AS subject,
            argMax(
                multiIf(
                    kind = 'outcome', toString(outcome),
                    kind = 'preference', chosen_id,
                    kind = 'training_flag', toString(training_flag),
                    toString(score)),
                (created_at, written_at, annotation_id)) AS word,
            argMax(ifNull(score, 0), (created_at, written_at, annotation_id)) AS number
        FROM annotation
        WHERE (kind = 'preference' OR (project, subject_kind, kind, subject_id) IN several)
            AND kind IN ('outcome', 'training_flag', 'score', 'preference') AND author != ''
            AND ((SELECT count() FROM withdrawal) = 0
                OR (project, subject_kind, kind, subject_id, annotation_id) NOT IN
                    (SELECT project, subject_kind, kind, subject_id, annotation_id FROM annotation_withdrawn))
            AND {chosen:created_at}
        GROUP BY project, subject_kind, kind, author, subject
        -- That nothing is decided yet, or neither, is no judgment.
        HAVING NOT (kind = 'outcome' AND word = 'pending') AND NOT (kind = 'training_flag' AND word = '0')
    ),
    -- Who judged a subject, so that only what two judged is put together.
    pairs AS
    (
        SELECT kind, (arrayJoin(couples) AS couple).1 AS one, couple.2 AS other
        FROM
        (
            SELECT
                kind,
                arraySort(groupArray((startsWith(author, 'passive:'), author, word, number))) AS judges,
                arrayFlatten(arrayMap(
                    at -> arrayMap(
                        then -> (judges[at], judges[then]), range(at + 1, length(judges) + 1)),
                    arrayEnumerate(judges))) AS couples
            FROM own
            GROUP BY project, subject_kind, kind, subject
            HAVING length(judges) > 1
        )
        WHERE NOT one.1
    )
SELECT
    * EXCEPT (differ, differ_by_chance),
    if(differ_by_chance < 1e-9, NULL, round(1 - differ / differ_by_chance, 3)) AS kappa
FROM
(
    SELECT
        kind AS judgment,
        one.2 AS reviewer,
        other.2 AS other_reviewer,
        count() AS both_judged,
        countIf(one.3 = other.3) AS agreed,
        agreed / both_judged AS agreed_share,
        if(kind = 'score', 'by distance', 'equal or not') AS counted,
        -- Of scores, kappa with quadratic weights: 9 and 10 differ less than 1 and 10. Its two sums are those
        -- of squared differences, as they are and as chance would pair them.
        if(kind = 'score',
            avg(pow(one.4 - other.4, 2)),
            1 - agreed_share) AS differ,
        if(kind = 'score',
            varPop(one.4) + varPop(other.4) + pow(avg(one.4) - avg(other.4), 2),
            1 - arraySum(
                word -> countEqual(groupArray(one.3), word) * countEqual(groupArray(other.3), word),
                groupUniqArray(one.3)) / pow(both_judged, 2)) AS differ_by_chance
    FROM pairs
    GROUP BY kind, one.2, other.2
)
ORDER BY both_judged DESC, judgment, reviewer, other_reviewer
LIMIT {limit:UInt32}
