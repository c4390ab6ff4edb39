-- nfvbed views, version 1, of stores of format 8.
--
-- Temporary views: they are in your connection, and change nothing in the file. The statements run in SQLite 3.38 or
-- later and in PostgreSQL 15 or later. A column is added with a new version; one that changes its meaning is renamed.
-- What is missing is NULL, never 0. Rates are frames/s over all directions; times are UTC, ISO 8601, durations ns.

CREATE TEMPORARY VIEW nfvbed_views AS SELECT 1 AS version, 8 AS store_format;

-- A run: one execution of an experiment. hidden and label are the newest words of people.
CREATE TEMPORARY VIEW nfvbed_run AS
SELECT
    run.id AS run,
    run.experiment,
    run.site,
    run.status,
    run.reason,
    run.started_at,
    run.ended_at,
    run.host_hash,
    (SELECT said.text FROM annotation AS said WHERE said.run = run.id AND said.mark = 'label'
     ORDER BY said.id DESC LIMIT 1) AS label,
    COALESCE((SELECT said.text FROM annotation AS said WHERE said.run = run.id AND said.mark = 'hidden'
     ORDER BY said.id DESC LIMIT 1), '') <> '' AS hidden,
    EXISTS (SELECT 1 FROM cell WHERE cell.run = run.id AND cell.simulated) AS simulated
FROM run;

-- A cell: what is measured in a run. role subject: a data plane; the others are ceilings.
CREATE TEMPORARY VIEW nfvbed_cell AS
SELECT
    cell.run,
    cell.id AS cell,
    cell.variant,
    cell.role,
    cell.topology,
    cell.vnf,
    cell.frame_size,
    cell.flows,
    cell.bidirectional,
    cell.port_kind,
    cell.status,
    cell.reason,
    cell.simulated,
    cell.rig_hash,
    cell.config_hash
FROM cell;

-- A trial, as it was measured: no placement class, limit or verdict is in it. preset mrr: at maximum load.
CREATE TEMPORARY VIEW nfvbed_trial AS
SELECT
    trial.run,
    trial.sequence,
    trial.cell,
    trial.round,
    trial.preset,
    trial.status,
    trial.started_at,
    trial.duration_ns,
    trial.intended_load_pps,
    trial.offered_load_pps,
    trial.forwarded_rate_pps,
    CAST(trial.directions -> 0 ->> 'sent' AS BIGINT)
        + COALESCE(CAST(trial.directions -> 1 ->> 'sent' AS BIGINT), 0) AS sent_frames,
    CAST(trial.directions -> 0 ->> 'received' AS BIGINT)
        + COALESCE(CAST(trial.directions -> 1 ->> 'received' AS BIGINT), 0) AS received_frames,
    CAST(trial.directions -> 0 ->> 'lost' AS BIGINT)
        + COALESCE(CAST(trial.directions -> 1 ->> 'lost' AS BIGINT), 0) AS lost_frames,
    trial.warnings,
    trial.simulated
FROM trial;

-- A visit: the median rate at maximum load of a cell in a round. Verdicts pair the visits of one round.
CREATE TEMPORARY VIEW nfvbed_visit AS
SELECT
    ranked.run,
    ranked.cell,
    ranked.round,
    AVG(ranked.forwarded_rate_pps) AS median_rate_pps,
    MAX(ranked.trials) AS trials
FROM (
    SELECT
        trial.run, trial.cell, trial.round, trial.forwarded_rate_pps,
        ROW_NUMBER() OVER (PARTITION BY trial.run, trial.cell, trial.round ORDER BY trial.forwarded_rate_pps) AS place,
        COUNT(*) OVER (PARTITION BY trial.run, trial.cell, trial.round) AS trials
    FROM trial WHERE trial.preset = 'mrr' AND trial.status = 'ok'
) AS ranked
WHERE ranked.place IN ((ranked.trials + 1) / 2, (ranked.trials + 2) / 2)
GROUP BY ranked.run, ranked.cell, ranked.round;

-- The result of a test that is more than single trials; payload is JSON of its kind.
CREATE TEMPORARY VIEW nfvbed_result AS
SELECT
    result.run,
    result.cell,
    result.round,
    result.test,
    result.kind,
    result.status,
    result.reason,
    result.warnings,
    result.first_sequence,
    result.last_sequence,
    result.started_at,
    result.ended_at,
    result.simulated,
    result.payload
FROM result;
